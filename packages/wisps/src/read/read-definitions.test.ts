import type { TurnTool } from "@rockbot/agent/plugin";
import { ToolError } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { wisp } from "../test-wisps.ts";
import { readDefinitions } from "./read-definitions.ts";

const tool = (name: string, parameters: object = { type: "object" }, output?: object): TurnTool => ({
  tool: { name, description: "", parameters },
  source: "tests",
  readOnly: false,
  output,
});
const search = {
  type: "object",
  additionalProperties: false,
  properties: {
    results: {
      type: "array",
      items: { type: "object", additionalProperties: false, properties: { url: { type: "string" } } },
    },
  },
};
const available = [
  tool(
    "web_search",
    {
      type: "object",
      additionalProperties: false,
      required: ["query"],
      properties: { query: { type: "string" }, count: {} },
    },
    search,
  ),
  tool("web_browse", {
    type: "object",
    additionalProperties: false,
    required: ["url"],
    properties: { url: { type: "string" } },
  }),
  ...[
    "get_from_working_memory",
    "save_to_working_memory",
    "execute_python_script",
    "spawn_wisps",
    "agent__batch",
    "files__read",
  ].map((name) => tool(name)),
];
const find = { id: "find", tool: "web_search", arguments: { query: "x" } };
const read = (definitions: unknown) => readDefinitions({ definitions }, { tools: available });

/** All that is said about pipelines that cannot run. */
function faults(definitions: unknown): readonly string[] {
  try {
    read(definitions);
    return [];
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    expect(error).toMatchObject({
      code: "invalid_arguments",
      message: expect.stringMatching(/^No wisp was run: \d+ things? (?:is|are) wrong\. /),
    });
    return (error.details?.["faults"] as readonly string[]) ?? [];
  }
}

const one = (...steps: readonly object[]) => faults([wisp(steps)]);

test("a pipeline is taken as a list, by itself, and as text of JSON", () => {
  const plain = wisp([find]);
  const shapes = [[plain], plain, JSON.stringify([plain]), JSON.stringify(plain), [JSON.stringify(plain)]];
  expect(shapes.map((shape) => read(shape).length)).toEqual([1, 1, 1, 1, 1]);
});

// Long because: it is a table of cases
test("each wrong input is told where it is, what is wrong, and what is right", () => {
  const table: readonly (readonly [definitions: unknown, words: RegExp])[] = [
    [undefined, /^definitions: is required and missing|^definitions: expected array/],
    ["no JSON", /^definitions: expected array, got the text "no JSON"/],
    [[], /^definitions: expected at least 1 item/],
    [[wisp([])], /^definitions\/0\/steps: expected at least 1 item/],
    [[{ ...wisp([find]), stpes: 1 }], /^definitions\/0: unknown property "stpes": did you mean "steps"\?/],
    [[wisp([{ ...find, id: "a b" }])], /^definitions\/0\/steps\/0\/id: expected text that matches/],
    [
      [wisp([find, find])],
      /^definitions\/0\/steps\/1\/id: "find" is the id of steps\/0 already\. Give each step its own/,
    ],
    [
      [wisp([{ id: "a" }])],
      /^definitions\/0\/steps\/0: has neither tool nor ask\. Give one: tool for a call, ask for a question/,
    ],
    [[wisp([{ ...find, ask: "What?" }])], /steps\/0: has both tool and ask/],
    [
      [wisp([find, { ...find, id: "b", on_error: "continue", fallback: { x: "{{/steps/find/data}}" } }])],
      /steps\/1\/fallback: stands as it is/,
    ],
    [
      [wisp([{ id: "a", ask: "What?", arguments: {} }])],
      /steps\/0\/arguments: are of a tool\. A question has references in ask/,
    ],
    [
      [wisp([{ ...find, tool: "web_serch" }])],
      /steps\/0\/tool: there is no tool "web_serch" for you\. Did you mean "web_search"\?/,
    ],
    [
      [wisp([{ id: "a", tool: "spawn_wisps", arguments: {} }])],
      /steps\/0\/tool: "spawn_wisps" cannot be part of a wisp: call it by itself/,
    ],
    [[wisp([{ id: "a", tool: "agent__batch", arguments: {} }])], /"agent__batch" cannot be part of a wisp/],
    [[wisp([{ ...find, arguments: {} }])], /steps\/0\/arguments\/query: is required and missing/],
    [
      [wisp([{ ...find, arguments: { query: "x", cuont: 1 } }])],
      /steps\/0\/arguments\/cuont: is no argument of the tool\. Did you mean "count"\?/,
    ],
    [
      [wisp([find], { tools: ["web_browse"] })],
      /steps\/0\/tool: "web_search" is not among the tools of this wisp, which are web_browse\. Add it there/,
    ],
    [
      [wisp([find], { tools: ["web_*", "wbe_browse"] })],
      /^definitions\/0\/tools: there is no tool "wbe_browse" for you\. Did you mean "web_browse"\?/,
    ],
    [
      [wisp([find, { id: "b", ask: "{{/steps/fnd/text}}" }])],
      /steps\/1\/ask: \{\{\/steps\/fnd\/text\}\}: there is no step "fnd"\. Did you mean "find"\?/,
    ],
    [
      [wisp([find, { id: "b", ask: "{{/steps/find/data/result}}" }])],
      /the tool gives no "result"\. Did you mean "results"\?/,
    ],
    [
      [wisp([find, { id: "b", ask: "{{/steps/find/data/results/first}}" }])],
      /"first" is in a list, and is not a number from 0/,
    ],
    [
      [wisp([find, { id: "b", ask: "{{/steps/find/data/results/0/title}}" }])],
      /the tool gives no "title"\. There are: url/,
    ],
    [[wisp([{ id: "b", ask: "{{/steps/b/text}}" }])], /\{\{\/steps\/b\/text\}\}: a step cannot have its own result/],
    [[wisp([{ id: "b", ask: "{{/item}}" }])], /\{\{\/item\}\}: only what a step with for_each does has an item/],
    [[wisp([{ id: "b", ask: "{{/input/x}}" }])], /\{\{\/input\/x\}\}: there is no input here/],
    [[wisp([{ ...find, after: ["b"] }])], /steps\/0\/after: there is no step "b"\. There are: find/],
    [[wisp([{ ...find, after: ["find"] }])], /steps\/0\/after: a step cannot wait for itself/],
    [
      [wisp([find], { result: { a: ["{{/steps/b/text}}"] } })],
      /^definitions\/0\/result\/a\/0: \{\{\/steps\/b\/text\}\}: there is no step "b"/,
    ],
    [
      [wisp([{ ...find, for_each: { items: "all of {{/steps/find/data}}", max: 2 } }])],
      /for_each\/items: expected a list, or one reference to a list/,
    ],
    [
      [wisp([{ ...find, for_each: { items: [1, 2, 3], max: 2 } }])],
      /steps\/0\/for_each: has 3 items, and max says at most 2/,
    ],
    [
      [wisp([{ ...find, for_each: { items: [1], max: 101 } }])],
      /for_each\/max: expected at most 100, got the number 101/,
    ],
    [
      [
        wisp([
          { ...find, for_each: { items: [1], max: 1 } },
          { id: "b", ask: "{{/steps/find/data/results}}" },
        ]),
      ],
      /the data of "find" is a list, with a result for each item/,
    ],
    [
      [wisp([{ ...find, when: { value: 1, is: "equal" } }])],
      /when\/to: is missing: "equal" compares the value with it/,
    ],
    [[wisp([{ ...find, when: { value: 1, is: "present", to: 2 } }])], /when\/to: has no effect/],
    [[wisp([{ ...find, when: { value: 1, is: "equals", to: 2 } }])], /when\/is: expected one of \["present"/],
    [
      [wisp([{ ...find, fallback: 1 }])],
      /fallback: has no effect, as a failure stops the pipeline\. Add on_error: "continue"/,
    ],
    [
      [wisp([{ ...find, mode: "Direct", params: {} }])],
      /steps\/0: unknown property "mode": known: id, tool, arguments/,
    ],
  ];
  for (const [definitions, words] of table)
    expect(faults(definitions).join("\n"), JSON.stringify(definitions)).toMatch(words);
});

test("a circle is named by its steps", () => {
  const circle = one(
    { id: "a", ask: "{{/steps/c/text}}" },
    { id: "b", ask: "x", after: ["a"] },
    { id: "c", ask: "{{/steps/b/text}}" },
  );
  expect(circle).toEqual([
    "definitions/0/steps/0: waits for itself, by a → c → b → a. Take one of these references or names in after away",
  ]);
});

test("everything that is wrong with all pipelines is said at once", () => {
  const wrong = faults([
    wisp([
      { ...find, tool: "none" },
      { id: "b", ask: "{{x}} {{/steps/y/text}}" },
    ]),
    { steps: [] },
    wisp([{ ...find, id: "1" }]),
  ]);
  expect(wrong.map((fault) => fault.split(":")[0])).toEqual([
    "definitions/1/description",
    "definitions/1/steps",
    "definitions/2/steps/0/id",
    "definitions/0/steps/0/tool",
    "definitions/0/steps/1/ask",
    "definitions/0/steps/1/ask",
  ]);
});

test("the bounds hold to the last: pipelines, steps, items, and calls of all together", () => {
  const ids = (count: number) => Array.from({ length: count }, (_, i) => ({ ...find, id: `s${i}` }));
  const each = (max: number) => ({ ...find, id: `e${max}`, for_each: { items: "{{/steps/find/data/results}}", max } });
  expect(faults([wisp(ids(32))])).toEqual([]);
  expect(faults([wisp(ids(33))])).toEqual([expect.stringMatching(/steps: expected at most 32 items/)]);
  expect(faults(Array.from({ length: 8 }, () => wisp(ids(32))))).toEqual([]);
  expect(faults([...Array.from({ length: 8 }, () => wisp(ids(32))), wisp([find])])).toEqual([
    expect.stringMatching(
      /^definitions: lead to 257 calls at most, .* and 256 may be\. Make max smaller, or call twice$/,
    ),
  ]);
  expect(faults(Array.from({ length: 33 }, () => wisp([find])))).toEqual([
    expect.stringMatching(/^definitions: expected at most 32 items/),
  ]);
  expect(faults([wisp([find, each(100), each(99), each(56)])])).toEqual([]);
  expect(faults([wisp([find, each(100), each(99), each(57)])])).toHaveLength(1);
});
