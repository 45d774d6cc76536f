import type { ModelAnswer } from "@rockbot/llm";
import { expect, test } from "vitest";
import { readCalls } from "./read-calls.ts";

const tools = ["web_search", "web_browse", "get_time", "clock__tell_time", "stranger__bash"].map((name) => ({
  name,
  description: "",
  parameters: { type: "object" },
}));
const read = (toolCalls: ModelAnswer["toolCalls"], finish: ModelAnswer["finish"] = "tool_calls") =>
  readCalls(
    { text: "", toolCalls, finish, usage: { inputTokens: 1, outputTokens: 1 } },
    { tools, refusal: () => undefined, results: [], iteration: 3 },
  ).toolCalls;
const call = (id: string, name = "get_time", args = "{}") => ({ id, name, arguments: args });

test("each call has an id of its own that any provider takes", () => {
  expect(read([call("a"), call("a"), call(""), call("no good: id")]).map(({ id }) => id)).toEqual([
    "a",
    "call_3_1",
    "call_3_2",
    "call_3_3",
  ]);
});

test("of many calls the first 32 run, the others are told so, and no more than 128 are answered", () => {
  const calls = read(Array.from({ length: 200 }, (_, index) => call(`c${index}`)));
  expect(calls).toHaveLength(128);
  expect(calls.filter(({ refusal }) => refusal === undefined)).toHaveLength(32);
});

test("arguments of an answer that was cut off are not guessed", () => {
  const [cut] = read([call("a", "web_search", '{"query": "cat')], "length");
  expect(cut?.refusal).toContain("cut off");
});

test("a name is taken for a tool's only if it can mean no other", () => {
  const names = ["functions.get_time", "Get-Time", " web_search ", "web", "delete_all"];
  expect(
    read(names.map((name) => call(name, name))).map(({ name, refusal }) => (refusal === undefined ? name : "refused")),
  ).toEqual(["get_time", "get_time", "web_search", "refused", "refused"]);
  expect(read([call("a", "web_serch")])[0]?.refusal).toMatch(/The nearest are: web_search/);
  expect(read([call("a", "tell_time")])[0]?.refusal).toMatch(/The nearest are: clock__tell_time\.$/);
  expect(read([call("a", "functions.bash")])[0]?.refusal).not.toContain("stranger__bash"); // ours is denied here
});
