import { expect, test } from "vitest";
import type { Reference } from "./reference.ts";
import { fillTemplate, readText, referencesIn } from "./template.ts";

const values: Readonly<Record<string, unknown>> = {
  "/steps/a/data/n": 5,
  "/steps/a/text": "{{/steps/b/text}} $& \\{{",
  "/steps/a/data": { list: [1, "x"] },
  "/item": null,
};
const fill = (template: unknown) =>
  fillTemplate(
    template,
    ({ pointer }: Reference) => values[pointer],
    () => {},
  );

test("a reference alone keeps its type, and one in a text becomes text", () => {
  expect(
    fill({
      n: "{{/steps/a/data/n}}",
      all: ["{{ /steps/a/data }}"],
      text: "n={{/steps/a/data/n}}, {{/steps/a/data}}, {{/item}}.",
    }),
  ).toEqual({
    n: 5,
    all: [{ list: [1, "x"] }],
    text: 'n=5, {"list":[1,"x"]}, .',
  });
});

test("what a value has between braces stays as it is, and so does what an author escapes", () => {
  expect(fill("<{{/steps/a/text}}>")).toBe("<{{/steps/b/text}} $& \\{{>");
  expect(fill("\\{{/steps/a/text}} and {{/steps/a/data/n}}")).toBe("{{/steps/a/text}} and 5");
  expect(fill({ "{{/steps/a/text}}": 1 })).toEqual({ "{{/steps/a/text}}": 1 });
});

test("all references of a template are found, wherever they stand", () => {
  const found = referencesIn({
    a: ["{{/steps/a/text}}", { b: "x{{/steps/b/data/0/~1x}}y{{/index}}" }],
    "{{/steps/c/text}}": 1,
  });
  expect(found.map(({ root, step, field, path }) => [root, step, field, path])).toEqual([
    ["steps", "a", "text", ""],
    ["steps", "b", "data", "/0/~1x"],
    ["index", undefined, undefined, ""],
  ]);
});

test("each text that is not a reference is refused, in words that have a right one", () => {
  const faultOf = (text: string) => readText(text).faults[0] ?? "none";
  expect(faultOf("{{result}}")).toMatch(
    /^\{\{result\}\} is not a reference\. There are \{\{\/steps\/ID\/data\}\}.* write \\\{\{$/,
  );
  expect(faultOf("{{/steps/a/text")).toMatch(/^"\{\{\/steps\/a\/text" has no \}\} at its end/);
  expect(faultOf("{{/stages/a/text}}")).toMatch(/begins with an unknown word/);
  expect(faultOf("{{/steps}}")).toMatch(/names no step\. Write \{\{\/steps\/ID\/text\}\}/);
  expect(faultOf("{{/steps/a}}")).toMatch(
    /does not say what of the step "a": \/steps\/a\/data, \/text, \/ok, \/error or \/errors/,
  );
  expect(faultOf("{{/steps/a/text/0}}")).toMatch(
    /"text" is not data, and has nothing in it\. Data has \/steps\/a\/data\/0/,
  );
  expect(faultOf("{{/index/0}}")).toMatch(/is a number, with nothing in it/);
  expect(faultOf("{{/steps/a/data/x~y}}")).toMatch(/is not a JSON Pointer: in one, ~ is written ~0/);
  expect(readText("{{a}} {{b}} {{/item}}").faults).toHaveLength(2);
});

test("values are counted before they are put together", () => {
  let spent = 0;
  fillTemplate(
    { a: "{{/steps/a/data}}", b: "12{{/steps/a/data/n}}" },
    ({ pointer }) => values[pointer],
    (chars) => {
      spent += chars;
    },
  );
  expect(spent).toBe('{"list":[1,"x"]}'.length + 3);
});
