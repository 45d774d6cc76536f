import { createHash, generateKeyPairSync } from "node:crypto";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { RunState, signDecision } from "@rockbot/runs";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import type { ModelServerRequest } from "@rockbot/testing";
import { createCommander, DECIDE } from "@rockbot/tools/commands";
import { expect, test } from "vitest";
import { openEffectsScene } from "./effects-scene.ts";
import { hearReplies } from "./hear-replies.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const POLICY = `everyone: { allow: ["*"], rules: [{ tools: [effect], rate: { calls: 1, perSeconds: 3600 } }] }
delegates: [agent]
operators: [{ name: ann, tokens: [{ hash: "sha256:${createHash("sha256").update("x").digest("hex")}" }], may: [decide] }]
approve: [{ tools: [effect], by: [ann] }]
`;
const WAIT = { timeout: 90_000, interval: 50 };
/** The agent's turn waits for a person for about two thirds of it. */
const TURN_MS = 6_000;
const NOTICE = /^waiting for approval: ([0-9a-f]{32})\. An operator decides: rockbot approvals approve \1$/;

/** Calls the tool when it is asked to, and else says what it has read last. */
function model({ messages }: ModelServerRequest) {
  const { text } = messages.at(-1) ?? { text: "" };
  const [, what] = /^do (\w+)$/.exec(text) ?? [];
  return what === undefined ? { text: `read: ${text}` } : { toolCalls: [{ name: "effect", arguments: { what } }] };
}

/** A real agent over RabbitMQ and Redis, a tool that a person has to approve, and the person. */
async function open() {
  await using opening = new AsyncDisposableStack();
  const policy = opening.use(holdPolicy(createPolicy(await readPolicy(POLICY, "test"))));
  const scene = opening.use(
    await openEffectsScene(model, { caller: "ada", runMs: 0, serving: { policy, operatorKey: publicKey } }),
  );
  const { bus, caller } = scene;
  const runs = opening.use(await connectRedisRunStore(scene.servers.REDIS_URL));
  const replies = opening.use(await hearReplies(bus, "user.response"));
  const commander = opening.use(createCommander(bus, { key: privateKey, source: "gateway", policy: undefined }));
  const running = await scene.start();
  await scene.served();
  const opened = opening.move();
  return {
    scene,
    running,
    ask: async (message: string, origin = "user") =>
      (await caller.call("agent__chat", { message, session_id: "s", origin }, { timeoutMs: TURN_MS })).content,
    /** What the agent has said unasked. */
    unasked: () => replies.finals().map(({ content }) => content),
    notices: async () => {
      const { structured } = await caller.call("agent__events", { session_id: "s" });
      const { events } = structured as { events: readonly { kind: string; text?: string }[] };
      return events.flatMap(({ kind, text }) => (kind === "notice" ? [text] : []));
    },
    async decide(verdict: "approve" | "reject", note?: string): Promise<void> {
      const [run] = await runs.open("effects", 1);
      if (run?.state !== RunState.Parked) throw new Error("no call waits for a person");
      const decision = signDecision(privateKey, run, { verdict, operator: "ann", note });
      const body = { caller: run.caller, toolCallId: run.toolCallId, decision };
      const command = { kind: DECIDE, service: "effects", operator: "ann", body };
      await commander.send(command, { instances: 1, timeoutMs: 5_000 });
    },
    /** The turns that wait for the end of a call. */
    waiting: () => runs.open("agent", 10),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

test("a call that is approved after its turn, and after the agent was killed, runs once and begins one turn with its result", {
  timeout: 300_000,
}, async () => {
  await using system = await open();
  const { scene, running } = system;
  expect(await system.ask("do good")).toMatch(
    /^read: pending: the call waits for a person, as "[0-9a-f]{32}"\. Its end/,
  );
  expect(await system.notices()).toEqual([expect.stringMatching(NOTICE)]);
  running.kill("SIGKILL");
  await running.ended;
  const second = await scene.start();
  await system.decide("approve");
  await expect.poll(() => system.unasked(), WAIT).toEqual(["read: did good"]);
  await expect.poll(() => system.waiting(), WAIT).toEqual([]); // nothing is left that a further agent would tell again
  second.kill("SIGKILL");
  await scene.start();
  expect(await system.ask("and now?")).toBe("read: and now?");
  expect([scene.runs.length, system.unasked()]).toEqual([1, ["read: did good"]]);
  expect(scene.model.requests.flatMap(({ messages }) => messages).join()).not.toContain("rockbot approvals");
});

test("the owner of a scheduled task is told what waits, and the session hears that it was rejected, with the note", {
  timeout: 300_000,
}, async () => {
  await using system = await open();
  await system.ask("do harm", "schedule");
  const before = [expect.stringMatching(NOTICE), expect.stringMatching(/^read: pending: /)];
  await expect.poll(() => system.unasked(), WAIT).toEqual(before);
  await system.decide("reject", "not that");
  const after = expect.stringMatching(/^read: denied: .*They say: not that/);
  await expect.poll(() => system.unasked(), WAIT).toEqual([...before, after]);
  expect(system.scene.runs).toEqual([]);
});
