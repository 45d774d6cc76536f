import { expect, test } from "vitest";
import { cookieText, headerText, type Parameter, pathText, queryPairs } from "./serialize-parameter.ts";

const parameter = (more: Partial<Parameter>): Parameter => ({
  argument: "color",
  name: "color",
  in: "query",
  style: "form",
  explode: false,
  allowReserved: false,
  isJson: false,
  ...more,
});

const TEXT = "blue";
const LIST = ["blue", "black", "brown"];
const OBJECT = { R: 100, G: 200, B: 150 };

// The examples of the specification, section "Style Examples".
test.each([
  ["matrix", false, [";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"]],
  ["matrix", true, [";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"]],
  ["label", false, [".blue", ".blue,black,brown", ".R,100,G,200,B,150"]],
  ["label", true, [".blue", ".blue.black.brown", ".R=100.G=200.B=150"]],
  ["simple", false, ["blue", "blue,black,brown", "R,100,G,200,B,150"]],
  ["simple", true, ["blue", "blue,black,brown", "R=100,G=200,B=150"]],
])(
  "a value of a path in the style %s with explode %s is written as the specification has it",
  (style, explode, expected) => {
    expect([TEXT, LIST, OBJECT].map((value) => pathText(parameter({ in: "path", style, explode }), value))).toEqual(
      expected,
    );
  },
);

test.each([
  ["form", false, ["color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"]],
  ["form", true, ["color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"]],
  ["spaceDelimited", false, ["color=blue", "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"]],
  ["pipeDelimited", false, ["color=blue", "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"]],
])(
  "a value of a query in the style %s with explode %s is written as the specification has it",
  (style, explode, expected) => {
    expect(
      [TEXT, LIST, OBJECT].map((value) => queryPairs(parameter({ style, explode }), value, new Set()).join("&")),
    ).toEqual(expected);
  },
);

test("an object of a query may be deep, a value of a header is in the style simple, and one of a cookie in the style form", () => {
  const headers = [false, true].map((explode) =>
    [TEXT, LIST, OBJECT].map((value) => headerText(parameter({ in: "header", style: "simple", explode }), value)),
  );
  expect(headers).toEqual([
    ["blue", "blue,black,brown", "R,100,G,200,B,150"],
    ["blue", "blue,black,brown", "R=100,G=200,B=150"],
  ]);
  expect(queryPairs(parameter({ style: "deepObject", explode: true }), OBJECT, new Set()).join("&")).toBe(
    "color[R]=100&color[G]=200&color[B]=150",
  );
  expect([TEXT, LIST, OBJECT].map((value) => cookieText(parameter({ in: "cookie" }), value))).toEqual([
    "color=blue",
    "color=blue,black,brown",
    "color=R,100,G,200,B,150",
  ]);
});

test("what separates values is encoded within one, and an object takes no place of another parameter", () => {
  expect(queryPairs(parameter({ style: "pipeDelimited" }), ["a|b", "c&d=e"], new Set())).toEqual([
    "color=a%7Cb%7Cc%26d%3De",
  ]);
  expect(queryPairs(parameter({ allowReserved: true }), "a/b?c&d#e", new Set())).toEqual(["color=a/b?c%26d%23e"]);
  expect(() => queryPairs(parameter({ explode: true }), { admin: 1 }, new Set(["admin"]))).toThrow(
    'a property "admin", which is another parameter',
  );
});
