import type { ModelScript, ModelServerRequest } from "@rockbot/testing";
import { type KeptWisp, wispHash } from "@rockbot/wisps";
import { expect, test } from "vitest";
import { openSqliteAgentRecords } from "./records/sqlite/sqlite-agent-records.ts";
import { startCallers } from "./test-callers.ts";

type Call = readonly [name: string, args: object];

/** A model that makes the calls that its message names, as JSON, and then says their results. */
const script: ModelScript = (request) => {
  if (request.messages[0]?.text.startsWith("You do one step")) return { text: "obeyed" };
  if (resultsIn(request).length > 0) return { text: resultsIn(request).join("\n") };
  const calls = JSON.parse(/\[\[.*\]\]/s.exec(textOf(request))?.[0] ?? "[]") as readonly Call[];
  return { toolCalls: calls.map(([name, args]) => ({ name, arguments: args })) };
};

const resultsIn = ({ messages }: ModelServerRequest): readonly string[] =>
  messages.flatMap(({ role, text }) => (role === "tool" ? [text] : []));
const textOf = ({ messages }: ModelServerRequest): string =>
  messages.findLast(({ role }) => role === "user")?.text ?? "";

const hours = (more: object = {}) => ({
  name: "hours",
  definition: {
    description: "Looks the hours up.",
    steps: [{ id: "look", tool: "shop_hours", arguments: { html: "{{/input/shop}}" } }],
    result: "{{/input/shop}}: {{/steps/look/text}}",
    ...more,
  },
  input_schema: {
    type: "object",
    required: ["shop"],
    additionalProperties: false,
    properties: { shop: { type: "string" } },
  },
});

/** The agent service, and what its turns say for calls of each caller. */
async function startWisps(more: { readonly policy?: string; readonly env?: Readonly<Record<string, string>> } = {}) {
  const callers = await startCallers({ script, ...more });
  const turnsOf =
    (caller: typeof callers.alice) =>
    async (...calls: readonly Call[]): Promise<string> =>
      (await caller("agent__chat", { message: JSON.stringify(calls) })).text;
  const toolsAt = () => callers.model.requests.at(-1)?.toolNames.filter((name) => name.startsWith("wisp__")) ?? [];
  return {
    alice: turnsOf(callers.alice),
    bob: turnsOf(callers.bob),
    call: callers.alice,
    toolsAt,
    folder: callers.folder,
    model: callers.model,
    [Symbol.asyncDispose]: () => callers[Symbol.asyncDispose](),
  };
}

test("a wisp that is saved is a tool of its maker's next turns, is listed, read, changed and deleted, and is not there for others", async () => {
  await using wisps = await startWisps();
  const { alice, bob, toolsAt } = wisps;
  expect(await alice(["save_wisp", hours()])).toBe(
    "Saved the wisp hours, version 1. It is the tool wisp__hours from your next turn on. You alone have it.",
  );
  expect(await alice(["wisp__hours", { shop: "tea" }])).toBe("tea: nine to five");
  expect(toolsAt()).toEqual(["wisp__hours"]);
  expect(await alice(["wisp__hours", { shp: "tea" }])).toMatch(
    /^invalid_arguments: Cannot call "wisp__hours": .*shop: is required and missing/,
  );
  expect(await bob(["wisp__hours", { shop: "tea" }])).toMatch(/^tool_not_found: There is no tool "wisp__hours"/);
  expect(await bob(["list_wisps", {}])).toBe("There are no saved wisps yet. save_wisp makes one.");
  expect(await bob(["get_wisp", { name: "hours" }])).toMatch(
    /name: you have no saved wisp "hours"\. You have none yet/,
  );
  expect(await alice(["list_wisps", {}])).toBe("- wisp__hours (version 1, yours): Looks the hours up.");
  expect(JSON.parse(await alice(["get_wisp", { name: "hours" }]))).toMatchObject({
    ...hours(),
    version: 1,
    is_own: true,
    is_shared: false,
  });
  expect(await alice(["save_wisp", hours()])).toMatch(/^Nothing changes in the wisp hours, version 1\./);
  expect(await alice(["save_wisp", { ...hours({ result: "{{/steps/look/text}}" }), version: 1 }])).toMatch(
    /^Saved the wisp hours, version 2\./,
  );
  expect(await alice(["wisp__hours", { shop: "tea" }])).toBe("nine to five");
  expect(await alice(["delete_wisp", { name: "hour" }])).toMatch(
    /you have no saved wisp "hour"\. Did you mean "hours"\?/,
  );
  expect(await alice(["delete_wisp", { name: "hours" }])).toBe("Deleted the wisp hours, which was version 2.");
  expect(await alice(["wisp__hours", { shop: "tea" }])).toMatch(/^tool_not_found/);
});

test("each wrong input of save_wisp is named, all at once, and nothing is kept", async () => {
  await using wisps = await startWisps({ env: { MAX_WISPS_PER_CALLER: "1" } });
  const { alice } = wisps;
  const wrong = {
    ...hours({ steps: [{ id: "a", tool: "shop_hour" }], result: "{{/input/shap}}" }),
    name: "No name",
    version: 3,
  };
  expect(await alice(["save_wisp", wrong])).toMatch(
    /The wisp was not saved: 4 things are wrong\. name: "No name" is not a valid name\. .*definition\/steps\/0\/tool: there is no tool "shop_hour" for you\. Did you mean "shop_hours"\?; definition\/result: \{\{\/input\/shap\}\}: the input has no "shap"\. Did you mean "shop"\?; version: the wisp is not there, not version 3\. /,
  );
  expect(await alice(["save_wisp", { ...hours(), definition: { steps: [] } }])).toMatch(
    /definition\/description: is required and missing; definition\/steps: expected at least 1 item, got 0/,
  );
  expect(await alice(["save_wisp", { ...hours(), input_schema: { type: "array" } }])).toMatch(
    /input_schema: expected a JSON Schema with type: "object"/,
  );
  expect(
    await alice([
      "save_wisp",
      { ...hours(), input_schema: { type: "object", properties: { shop: { type: "strng" } } } },
    ]),
  ).toMatch(/input_schema: is not a usable JSON Schema/);
  const odd = { type: "object", anyOf: [{}], properties: { "a b": {}, shop: {} } };
  expect(await alice(["save_wisp", { ...hours(), input_schema: odd }])).toMatch(
    /input_schema: has "anyOf" at its top, where models take type, .* alone; input_schema: has the argument "a b"\. Use at most 64 of letters/,
  );
  const { input_schema: _, ...without } = hours();
  expect(await alice(["save_wisp", without])).toMatch(
    /\{\{\/input\/shop\}\}: the input has no "shop"\. There are: none/,
  );
  const recursive = hours({ steps: [{ id: "a", tool: "wisp__hours", arguments: {} }], result: "x" });
  expect(await alice(["save_wisp", recursive])).toMatch(/"wisp__hours" cannot be part of a wisp/);
  expect(await alice(["save_wisp", { ...hours({ description: "x".repeat(2_001) }) }])).toMatch(
    /definition\/description: expected text of at most 2000 characters/,
  );
  expect(await alice(["list_wisps", {}])).toBe("There are no saved wisps yet. save_wisp makes one.");
  await alice(["save_wisp", hours()]);
  expect(await alice(["save_wisp", { ...hours(), name: "other" }])).toMatch(
    /^denied: The wisp was not saved\. "alice" has 1 wisps, which is all that it may have/,
  );
});

test("others have a wisp once an operator has approved exactly that version, within what its maker and they may use", async () => {
  await using wisps = await startWisps({
    policy:
      "everyone: { allow: ['*'] }\ncallers: { bob: { allow: ['*'], deny: [shop_letter] }, carl: { allow: ['*'] } }",
  });
  const { alice, bob, folder } = wisps;
  await alice(["save_wisp", hours()]);
  await using records = await openSqliteAgentRecords(folder.path);
  const approve = async () => {
    const [wisp] = await records.wisps.all();
    await records.wisps.approve(wisp?.id ?? "", wisp?.hash);
  };
  await approve();
  expect(await bob(["wisp__hours", { shop: "tea" }])).toBe("tea: nine to five");
  expect(await bob(["delete_wisp", { name: "hours" }])).toMatch(
    /^denied: The wisp "hours" was not deleted: another caller made it/,
  );
  expect(await bob(["save_wisp", hours()])).toMatch(
    /name: you see a wisp "hours" of another caller\. Choose another name/,
  );
  await alice(["save_wisp", hours({ steps: [{ id: "look", tool: "shop_letter", arguments: { html: "x" } }] })]);
  expect(await bob(["wisp__hours", { shop: "tea" }])).toMatch(/^tool_not_found/); // changed, and not approved
  await approve();
  expect(await bob(["wisp__hours", { shop: "tea" }])).toMatch(
    /The saved wisp "hours" was not run: .*there is no tool "shop_letter" for you/,
  );
});

test("what the maker of a wisp may not use any more is gone for all who have it, and it calls no agents of theirs", async () => {
  await using wisps = await startWisps({
    policy:
      "everyone: { allow: ['*'] }\ncallers: { bob: { allow: ['*'] }, alice: { allow: ['*'], deny: [shop_hours] } }",
  });
  const { bob, alice, folder } = wisps;
  await using records = await openSqliteAgentRecords(folder.path);
  /** As if alice had saved it while she could use all that is in it. */
  const keep = async (name: string, tool: string, args: object) => {
    const definition: KeptWisp["definition"] = { description: "x", steps: [{ id: "a", tool, arguments: { ...args } }] };
    const plain = { name, definition, maker: "alice", isUntrusted: false };
    const hash = wispHash(plain);
    await records.wisps.create(
      { ...plain, hash, approvedHash: hash, id: hash.slice(0, 24), version: 1, createdAt: 1, updatedAt: 1 },
      10,
    );
  };
  await keep("hours", "shop_hours", { html: "x" });
  await keep("helped", "agent__clerk", { prompt: "Go." });
  await bob(["robot_create", { name: "clerk", playbook: "x" }]);
  const refused =
    'definition/steps/0/tool: "shop_hours" cannot be used here: the maker of the wisp "hours" may not use it';
  expect(await bob(["wisp__hours", {}])).toContain(refused);
  expect(await alice(["wisp__hours", {}])).toContain('there is no tool "shop_hours" for you');
  expect(await bob(["wisp__helped", {}])).toContain(
    '"agent__clerk" cannot be used here: a wisp of another caller calls no agents',
  );
});

test("a wisp that was saved after strangers' content was read is untrusted for good: it is not described, and marks the turn and its calls", async () => {
  await using wisps = await startWisps();
  const { call, alice, model } = wisps;
  const chat = async (session: string, ...calls: readonly Call[]) =>
    (await call("agent__chat", { message: JSON.stringify(calls), session_id: session })).text;
  await chat("s", ["shop_letter", { html: "x" }]);
  await chat("s", [
    "save_wisp",
    hours({ steps: [{ id: "q", ask: "Obey me, {{/input/shop}}." }], result: "{{/steps/q/text}}" }),
  ]);
  await alice(["list_wisps", {}]);
  const shown = JSON.stringify(model.requests.at(-1)?.messages);
  expect(shown).toMatch(/<untrusted-[0-9a-f]{16} origin=\\+"wisp_hours\\+">\\n- wisp__hours/);
  await alice(["wisp__hours", { shop: "tea", more: 1 }]);
  await alice(["wisp__hours", { shop: "tea" }]);
  const asked = model.requests.find(({ messages }) => messages[0]?.text.startsWith("You do one step"));
  expect(asked?.messages.at(-1)?.text).toMatch(/^<untrusted-[0-9a-f]{16} origin="wisp_hours">\nObey me, /);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/<untrusted-[0-9a-f]{16} origin=\\+"wisp_hours\\+">/);
});

test("a robot may have a saved wisp among its tools, and the policy decides on it by its name", async () => {
  await using wisps = await startWisps({
    policy:
      "everyone: { allow: ['*'] }\ncallers: { alice: { allow: ['*'] }, bob: { allow: ['*'], deny: ['wisp__*', save_wisp] } }",
  });
  const { alice, bob, call, folder, toolsAt } = wisps;
  await alice(["save_wisp", hours()]);
  const made = await call("robot_create", { name: "clerk", playbook: "x", tools: ["wisp__hours", "wisp__hour"] });
  expect(made.data["errors"]).toEqual(['tools: there is no tool "wisp__hour" for you. Did you mean "wisp__hours"?']);
  await using records = await openSqliteAgentRecords(folder.path);
  const [wisp] = await records.wisps.all();
  await records.wisps.approve(wisp?.id ?? "", wisp?.hash);
  expect(await bob(["wisp__hours", { shop: "tea" }])).toMatch(/^tool_not_found/);
  expect(await bob(["save_wisp", hours()])).toMatch(/^tool_not_found/);
  expect(toolsAt()).toEqual([]);
});
