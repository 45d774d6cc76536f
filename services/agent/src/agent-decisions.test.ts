import { ToolError } from "@rockbot/contracts";
import type { AuditLog } from "@rockbot/records/audit";
import type { ModelScript } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startCallers } from "./test-callers.ts";

const words = (error: unknown): string =>
  error instanceof ToolError ? `${error.code}: ${error.message}` : String(error);

/** A model that makes the call that its user writes, and repeats the result. A called agent reports at once. */
const script: ModelScript = ({ messages }) => {
  const last = messages.at(-1);
  if (last?.role === "tool") return { text: last.text };
  const asked = messages.findLast(({ role }) => role === "user")?.text ?? "";
  if (asked === "Report.")
    return {
      toolCalls: [{ name: "agent__final_report", arguments: { status: "success", format: "text", content: "done" } }],
    };
  return asked.startsWith("{") ? { toolCalls: [JSON.parse(asked)] } : { text: "hello" };
};

const POLICY = `everyone: { allow: ["*"] }
callers:
  alice: { deny: [agent__boss, agent__helper] }
  bob: { deny: [robot_create, save_skill, agent__clerk, router__handoff-to] }`;

async function startScene() {
  const written: Parameters<AuditLog["write"]>[0][] = [];
  const audit: AuditLog = {
    isWriting: true,
    write: async (record) => void written.push(record),
    async [Symbol.asyncDispose]() {},
  };
  const scene = await startCallers({ script, policy: POLICY, audit });
  const { alice } = scene;
  for (const robot of [
    { name: "clerk", destinations: ["boss", "cook"], tools: ["*"] },
    { name: "boss", tools: [] },
    { name: "cook", tools: [] },
  ])
    await alice("robot_create", { ...robot, playbook: "Work." });
  // Destinations that were not there yet
  const { data } = await alice("robot_list", {});
  const ids = new Map(
    (data["robots"] as { name: string; robot_id: string }[]).map(({ name, robot_id }) => [name, robot_id]),
  );
  await alice("robot_update", { robot_id: ids.get("clerk"), destinations: ["boss", "cook"] });
  const turn = (name: string, args: object, more: object = {}) =>
    alice("agent__chat", { message: JSON.stringify({ name, arguments: args }), ...more });
  const lines = (tool: string) => written.flatMap((line) => ("tool" in line && line.tool === tool ? [line] : []));
  return { ...scene, ids, turn, lines, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

test("the policy says who may define, and each decision is in the audit log", async () => {
  await using scene = await startScene();
  const { bob, lines } = scene;
  expect(await bob("robot_create", { name: "x", playbook: "x" }).catch(words)).toMatch(/^denied: /);
  expect(await bob("save_skill", { name: "x", content: "x" }).catch(words)).toMatch(/^denied: /);
  expect(lines("robot_create")).toMatchObject([{ caller: "alice", decision: "allowed", outcome: "ok" }, {}, {}]);
});

test("the policy says who may call an agent, and each call of one is in the audit log with its decision", async () => {
  await using scene = await startScene();
  const { turn, alice, lines } = scene;
  expect((await turn("agent__clerk", { prompt: "Report." })).text).toBe("done");
  expect((await turn("agent__boss", { prompt: "Report." })).text).toContain("agent__boss");
  expect(lines("agent__clerk")).toMatchObject([
    {
      service: "agent",
      caller: "alice",
      decision: "allowed",
      outcome: "ok",
      toolCallId: expect.any(String),
      policy: expect.any(String),
    },
  ]);
  expect(lines("agent__boss")).toEqual([]); // it was no tool of the turn
  expect(await alice("agent__chat", { message: "Report.", agent: "boss" }).catch(words)).toBe(
    'denied: Cannot ask the agent "boss": the policy does not let "alice" call it.',
  );
  expect((await alice("agent__chat", { message: "Report.", agent: "clerk" })).text).toBe("done");
});

test("the policy says whom a conversation may be handed over to, and each handing over is in the audit log with its decision", async () => {
  await using scene = await startScene();
  const { turn, alice, ids, lines } = scene;
  const refused = await turn("router__handoff-to", { agent: "boss" }, { agent: "clerk" });
  expect(refused.text).toContain(
    'The conversation was not handed over: the policy does not let its caller call "boss". It lets it call: cook.',
  );
  await turn("router__handoff-to", { agent: "cook" }, { agent: "clerk" });
  expect(lines("router__handoff-to")).toMatchObject([
    { caller: "alice", decision: "denied", outcome: "denied" },
    { caller: "alice", decision: "allowed", outcome: "ok" },
  ]);
  const to = (name: string) => alice("robot_switch", { robot_id: ids.get(name), session_id: "s" });
  expect(await to("boss").catch(words)).toBe(
    'denied: The session was not switched: the policy does not let "alice" call the robot "boss". Choose another.',
  );
  expect((await to("cook")).text).toBe("From its next turn on the session is the robot cook.");
});

test("the policy says who may start helpers: without the right there is no tool for it", async () => {
  await using scene = await startScene();
  const { turn, bob, model } = scene;
  await turn("whiteboard_list", {});
  expect(model.requests.at(-1)?.toolNames).not.toContain("spawn_subagent");
  await bob("agent__chat", { message: "Hello." });
  expect(model.requests.at(-1)?.toolNames).toContain("spawn_subagent");
});
