import { expect, test } from "vitest";
import { statesOf } from "./script-state.ts";

test.each([
  ["an object", 'var a=1;window.__STATE__ = {"a": "}\\"", "b": [1]};b()', [["__STATE__", { a: '}"', b: [1] }]]],
  ["what is undefined", 'self["x-y"]={"a":undefined,"b":"undefined"}', [["x-y", { a: null, b: "undefined" }]]],
  [
    "a text of JSON",
    String.raw`window.A=JSON.parse("{\"a\":\"\\u0041\x42\"}");globalThis.B=JSON.parse('[{"b":"it\'s"}]')`,
    [
      ["A", { a: "AB" }],
      ["B", [{ b: "it's" }]],
    ],
  ],
  [
    "nothing that is empty, no JSON, or without an end",
    'window.a={};window.b={c:1};window.d=JSON.parse(e);window.f=[\'g\'];window.h="i";window.j={"k":1;window.l={"m":2}',
    [["l", { m: 2 }]],
  ],
])("the state of a page is read from its scripts: %s", (_, script, states) => {
  expect(statesOf([script]).map(({ name, json }) => [name, JSON.parse(json)])).toEqual(states);
});

test("what Next.js sends of its components is put together, without its modules", () => {
  const rows = `1:"$Sreact.fragment"\n2:I[1,["a.js"],"A"]\n0:["$","h1",null,{"children":"Zwölf"}]\n3:T7,ä:\n{}x4:{"b":1}\n`;
  const pushes = [rows.slice(0, 60), rows.slice(60)].map((part) => `self.__next_f.push([1,${JSON.stringify(part)}])`);
  const [state, other] = statesOf(["(self.__next_f=self.__next_f||[]).push([0]);other.push([1])", ...pushes]);

  expect(state?.name).toBe("__next_f");
  expect(JSON.parse(state?.json ?? "")).toEqual([["$", "h1", null, { children: "Zwölf" }], "ä:\n{}x", { b: 1 }]);
  expect(other).toBeUndefined();
});

test.each([
  ["values without an end", 'window.a={"'.repeat(100_000)],
  ["texts without an end", `self.__next_f.push([1,"`.repeat(50_000)],
  ["escaped quotes", `window.a=JSON.parse("${'\\"'.repeat(500_000)}`],
  ["open brackets", `window.a=${"[".repeat(1_000_000)}`],
  ["nested lists", `window.a=${"[".repeat(500_000)}${"]".repeat(500_000)}`],
  ["rows without a colon", `self.__next_f.push([1,${JSON.stringify("a\n".repeat(300_000))}])`],
  ["white space", `window${" ".repeat(1_000_000)}`],
  ["more than can be read", `window.a={"a":"${"b".repeat(20_000_000)}"}`],
])("a script of %s is gone through in time that grows with its length", (_, script) => {
  expect(statesOf([script])).toEqual([]);
});
