import { expect, test } from "vitest";
import { readArguments } from "../repair-arguments.ts";
import { readTextCalls } from "./text-calls.ts";

const tools = [{ name: "a", description: "", parameters: { type: "object" } }];
/** What a model in a loop may write: the longest text that is looked through, full of one thing. */
const full = (of: string, length = 256 * 1024): string => of.repeat(Math.floor(length / of.length));
/** Far more than it takes, and far less than an expression that tries each beginning with all that follows. */
const MOST_MS = 10_000;

const beginnings = [
  '<invoke name="a">',
  "<function=a>",
  "<tool_call>",
  "<｜tool▁call▁begin｜>a",
  "[TOOL_CALLS][",
  "[TOOL_CALLS]{",
  "```json\n",
  "<untrusted-a",
];
const others = [
  "tool_call_name: a\ntool_call_arguments: {",
  "Action: a\nAction Input: {\n",
  "{\n",
  "[\n",
  "a\n{",
  '{"name":"a","arguments":{',
  "Thought: ",
  "</untrusted-",
];

test.each<readonly [string, string]>([
  ...[...beginnings, ...others].map((text) => [JSON.stringify(text), full(text)] as const),
  ...beginnings.map((text) => [`${JSON.stringify(text)} and blanks`, text + full(" ", 250_000)] as const),
  ["parameters without an end", `<function=a>${full("<parameter=a>", 250_000)}</function>`],
  ["keys without values", `<tool_call>a${full("<arg_key>b</arg_key>", 250_000)}</tool_call>`],
])("a text of %s is read in time", (_, text) => {
  const begun = performance.now();
  readTextCalls(text, { tools, results: ["x".repeat(64_000)] });
  expect(performance.now() - begun).toBeLessThan(MOST_MS);
});

test("a call behind beginnings without an end is read", () => {
  const call = '<tool_call>{"name": "a", "arguments": {"b": 1}}</tool_call>';
  for (const before of [
    full('<invoke name="x">', 1_000),
    full("{\n", 1_000),
    full("[TOOL_CALLS][", 1_000),
    full("<｜tool▁call▁begin｜>x", 1_000),
  ]) {
    expect(readTextCalls(before + call, { tools, results: [] }).calls).toEqual([{ name: "a", arguments: '{"b":1}' }]);
  }
});

test.each([
  ["a fence of blanks", `\`\`\`${full(" ", 1_000_000)}x`],
  ["ends", `{a:${full("}", 60_000)}x}`],
  ["blanks", `{a:${full(" ", 60_000)}x}`],
  ["comments without an end", `{a:${full("/*", 60_000)}}`],
])("arguments of %s are refused in time", (_, text) => {
  const begun = performance.now();
  expect(readArguments(text).ok).toBe(false);
  expect(performance.now() - begun).toBeLessThan(MOST_MS);
});
