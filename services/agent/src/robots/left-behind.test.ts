import { FROM_BEFORE } from "@rockbot/agent";
import type { ModelScript, ModelServerRequest } from "@rockbot/testing";
import { expect, test } from "vitest";
import { testKept } from "../records/conformance.ts";
import { openSqliteAgentRecords } from "../records/sqlite/sqlite-agent-records.ts";
import { startCallers } from "../test-callers.ts";

/** A model that makes the call that its message names, and repeats the result. */
const obedient: ModelScript = ({ messages }: ModelServerRequest) => {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const [result] = messages.slice(at + 1).filter(({ role }) => role === "tool");
  return result === undefined
    ? { toolCalls: [JSON.parse(/\{"name".*\}/.exec(messages[at]?.text ?? "")?.[0] ?? "") as { name: string }] }
    : { text: result.text };
};

/** Alice's callers, with a robot that has few tools, and a conversation that is that robot. */
async function startClerk() {
  const scene = await startCallers({ script: obedient });
  const { alice } = scene;
  const tools = [
    "shop_hours",
    "robot_create",
    "robot_update",
    "robot_delete",
    "robot_switch",
    "save_skill",
    "delete_skill",
    "save_wisp",
  ];
  const idOf = async (name: string, of: readonly string[]) =>
    (await alice("robot_create", { name, playbook: `Work as ${name}.`, tools: of })).data["robot_id"] as string;
  const [clerk, cook] = [await idOf("clerk", tools), await idOf("cook", ["*"])];
  await alice("robot_switch", { robot_id: clerk, session_id: "s" });
  const ask = (name: string, args: object, session_id = "s") =>
    alice("agent__chat", { message: JSON.stringify({ name, arguments: args }), session_id });
  return { ...scene, ask, clerk, cook };
}

test("a robot that another robot's session has made has no more tools than that, whoever uses it", async () => {
  await using scene = await startClerk();
  const { alice, ask } = scene;
  const made = await ask("robot_create", { name: "double", playbook: "Obey me.", tools: ["*"] });
  const id = /id ([0-9a-f]{24})/.exec(made.text)?.[1] ?? "";
  await ask("robot_switch", { robot_id: id });
  expect((await ask("shop_hours", { html: "x" })).text).toContain("nine to five");
  const refused = '"shop_letter" was not called: the agent "clerk" does not have this tool';
  expect((await ask("shop_letter", { html: "x" })).text).toContain(refused);
  await alice("robot_switch", { robot_id: id, session_id: "other" });
  expect((await ask("shop_letter", { html: "x" }, "other")).text).toContain(refused);
  await alice("robot_update", { robot_id: id, playbook: "Be nice.", tools: ["shop_letter"] }); // nobody takes its bounds off
  expect((await ask("shop_letter", { html: "x" }, "other")).text).toContain(refused);
});

test("a robot's session changes and deletes what it has made itself, and nothing else of its caller's", async () => {
  await using scene = await startClerk();
  const { alice, ask, cook, clerk } = scene;
  const outside = 'it was made outside of the agent "clerk", which changes only what it has made itself';
  for (const robot_id of [cook, clerk]) {
    expect((await ask("robot_update", { robot_id, playbook: "Obey me.", tools: ["*"] })).text).toContain(outside);
    expect((await ask("robot_delete", { robot_id })).text).toContain(outside);
  }
  await alice("save_skill", { name: "mail", content: "Ask first." });
  expect((await ask("save_skill", { name: "mail", content: "Send all." })).text).toContain(outside);
  expect((await ask("delete_skill", { name: "mail" })).text).toContain(outside);
  expect((await ask("robot_switch", { robot_id: null, session_id: "other" })).text).toContain(
    "switches its own session only",
  );
  const made = await ask("robot_create", { name: "own", playbook: "x" });
  const robot_id = /id ([0-9a-f]{24})/.exec(made.text)?.[1] ?? "";
  expect((await ask("robot_update", { robot_id, playbook: "y" })).text).toContain("Changed the robot own");
  expect((await alice("robot_get", { robot_id: cook })).data).toMatchObject({ playbook: "Work as cook.", version: 1 });
});

test("what a robot's session writes down as a skill is read as a stranger's, and a wisp that it saves has its tools alone", async () => {
  await using scene = await startClerk();
  const { alice, ask } = scene;
  await ask("save_skill", { name: "mail", content: "Send all." });
  expect((await alice("get_skill", { name: "mail" })).trust).toEqual({ level: "untrusted", origin: "skill mail" });
  const definition = { description: "Looks up.", steps: [{ id: "a", tool: "shop_hours", arguments: { html: "x" } }] };
  expect((await ask("save_wisp", { name: "look", definition })).text).toContain("Saved the wisp look");
  await using records = await openSqliteAgentRecords(scene.folder.path);
  const [wisp] = await records.wisps.all();
  expect(JSON.parse(wisp?.grant ?? "")).toMatchObject([{ kind: "agent", name: "clerk", maker: "alice" }]);
  if (wisp === undefined) throw new Error("the wisp is kept");
  expect((await ask("wisp__look", {}, "plain")).text).toContain("nine to five");
  await records.wisps.update({
    ...wisp,
    version: 2,
    definition: { ...definition, steps: [{ id: "a", tool: "shop_letter", arguments: { html: "x" } }] },
  });
  expect((await ask("wisp__look", {}, "plain")).text).toContain('the agent "clerk" does not have this tool');
});

test("a robot from before grants were kept marks its turns and says why, until its maker saves it in full", async () => {
  await using scene = await startCallers({ script: obedient });
  const { alice, folder } = scene;
  await using records = await openSqliteAgentRecords(folder.path);
  const { grant: _grant, ...old } = testKept("old", { tools: ["shop_hours"] });
  await records.definitions.create(old, 10);
  expect((await records.definitions.get(old.id))?.grant).toBe(FROM_BEFORE);
  await alice("robot_switch", { robot_id: old.id, session_id: "s" });
  const ask = () =>
    alice("agent__chat", {
      message: JSON.stringify({ name: "shop_hours", arguments: { html: "x" } }),
      session_id: "s",
    });
  expect(await ask()).toMatchObject({ text: "nine to five", trust: { level: "untrusted" } });
  await alice("robot_update", { robot_id: old.id, description: "Mine." });
  expect((await records.definitions.get(old.id))?.grant).toBe(FROM_BEFORE);
  await alice("robot_update", { robot_id: old.id, playbook: old.playbook, tools: ["shop_hours"] });
  await alice("robot_switch", { robot_id: old.id, session_id: "new" });
  const anew = await alice("agent__chat", {
    message: JSON.stringify({ name: "shop_hours", arguments: { html: "x" } }),
    session_id: "new",
  });
  expect(anew).toMatchObject({ text: "nine to five", trust: { level: "system" } });
});
