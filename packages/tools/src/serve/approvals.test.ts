import { generateKeyPairSync } from "node:crypto";
import { createMemoryBus } from "@rockbot/bus";
import { createEnvelope, Header, Keep, messages, ToolError } from "@rockbot/contracts";
import { createPolicy, holdPolicy, type PolicyHolder, readPolicy } from "@rockbot/policy";
import type { AuditLine, AuditLog } from "@rockbot/records/audit";
import {
  AUDIT_MS,
  LEASE_MS,
  openSqliteRunStore,
  READY_MS,
  type Run,
  RunState,
  type RunStore,
  Runs,
  signDecision,
} from "@rockbot/runs";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { createCommander } from "../commands/send-commands.ts";
import { DECIDE } from "../commands/take-commands.ts";
import type { Tool } from "../define/define-tool.ts";
import { endOf } from "../runs/run-keeper.ts";
import { heldTool, testPolicy, testSet, testTool } from "../test-tools.ts";
import { serveTools } from "./serve-tools.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const OPERATORS = `operators:
  - { name: ann, tokens: [{ hash: "sha256:${"a".repeat(64)}" }], may: [read, decide] }
  - { name: bob, tokens: [{ hash: "sha256:${"b".repeat(64)}" }], may: [read, decide] }
`;
const asking = (rule: string): string => `everyone: { allow: ["*"] }\n${OPERATORS}approve:\n  - ${rule}\n`;
const ANYTHING = "everyone: { allow: ['*'] }\n";
const SEND = asking("{ tools: [send], by: [ann, bob] }");

/** The store with other parts. */
const changed = (store: RunStore, parts: Partial<RunStore>): RunStore =>
  new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(name in parts ? parts : target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

/** A service whose tool "send" needs an approval, and what an operator does about it. */
async function station(
  policyText = SEND,
  { store, tool, ...more }: { store?: RunStore; tool?: Tool; concurrency?: number; audit?: AuditLog } = {},
) {
  const stack = new AsyncDisposableStack();
  const bus = stack.use(createMemoryBus());
  const runs = store ?? stack.use(await openSqliteRunStore(undefined));
  let sent = 0;
  const send = tool ?? testTool("send", async (input) => `sent ${JSON.stringify(input)}, the ${++sent}.`);
  let policy: PolicyHolder = await testPolicy(policyText);
  const holder = { ...policy, current: () => policy.current() } as PolicyHolder;
  const shared = { service: "mail", policy: holder, runs, operatorKey: publicKey, drainMs: 1, ...more };
  const serve = (other = send) => serveTools(bus, testSet(other), shared);
  const service = stack.use(await serve());
  const caller = stack.use(await createToolCaller(bus, { agent: "ada" }));
  await caller.discovered();
  const commander = stack.use(createCommander(bus, { key: privateKey, source: "gateway", policy: undefined }));
  const waiting = async (): Promise<Run> => {
    await expect.poll(async () => (await runs.open("mail", 1))[0]?.state).toBe(RunState.Parked);
    return (await runs.open("mail", 1))[0] as Run;
  };
  return {
    bus,
    runs,
    caller,
    service,
    serve,
    waiting,
    get sent() {
      return sent;
    },
    setPolicy: async (text: string) => {
      policy = holdPolicy(createPolicy(await readPolicy(text, "test")));
    },
    /** Makes a call that goes on by itself. */
    async detach(toolCallId: string): Promise<void> {
      await expect(caller.call("send", {}, { keep: Keep.Detached, toolCallId })).rejects.toMatchObject({
        code: "pending",
      });
    },
    end: async (toolCallId: string) => (await runs.read({ service: "mail", caller: "ada", toolCallId }))?.run.end,
    /** The answer of the service to the decision, or why it does not count. */
    async decide(run: Run, verdict: "approve" | "reject", operator = "ann", note?: string) {
      const { caller: of, toolCallId } = run;
      const decision = signDecision(privateKey, run, { verdict, operator, note });
      const body = { caller: of, toolCallId, decision };
      const [answer] = await commander.send(
        { kind: DECIDE, service: "mail", operator, body },
        { instances: 1, timeoutMs: 5_000 },
      );
      return answer instanceof ToolError ? answer.message : answer;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test("a call that the policy asks about runs once it is approved, and its caller that waits gets the answer", async () => {
  await using mail = await station();
  const call = mail.caller.call("send", { to: "bob" });
  const run = await mail.waiting();
  expect(run.approval).toMatchObject({ arguments: '{"to":"bob"}', asked: [{ by: ["ann", "bob"], needed: 1 }] });
  expect(mail.sent).toBe(0);
  expect(await mail.decide(run, "approve")).toEqual({ state: RunState.Ready });
  expect(await call).toMatchObject({ content: 'sent {"to":"bob"}, the 1.' });
  expect(await mail.decide(run, "approve", "bob")).toMatch(/does not count: the run is (running|ended)/);
  expect(mail.sent).toBe(1);
});

test("a call that is rejected is denied with the operator's note, and does not run", async () => {
  await using mail = await station();
  const call = mail.caller.call("send", { to: "bob" }).catch((error: unknown) => error);
  expect(await mail.decide(await mail.waiting(), "reject", "bob", "not to bob")).toEqual({ state: RunState.Ended });
  expect(await call).toMatchObject({
    code: "denied",
    message: expect.stringContaining("They say: not to bob"),
    details: { reason: "rejected", mayHaveRun: false },
  });
  expect(mail.sent).toBe(0);
});

test("a caller that waits hears before its deadline that the call is pending, and the run is withdrawn with it", async () => {
  await using mail = await station();
  const call = mail.caller.call("send", { to: "bob" }, { timeoutMs: 1_000 }).catch((error: unknown) => error);
  const run = await mail.waiting();
  expect(await call).toMatchObject({
    code: "pending",
    isRetryable: false,
    details: { mayHaveRun: false, isKept: false },
  });
  await expect.poll(async () => (await mail.runs.read(run))?.run.end?.code).toBe("cancelled");
  expect(await mail.decide(run, "approve")).toMatch(/does not count: the run is ended/);
  expect(mail.sent).toBe(0);
});

test("a kept call goes on without its caller, and the same id gets its end", async () => {
  await using mail = await station();
  const options = { keep: Keep.IfParked, timeoutMs: 1_000, toolCallId: "kept-1" };
  expect(await mail.caller.call("send", { to: "bob" }, options).catch((error: unknown) => error)).toMatchObject({
    code: "pending",
    details: { isKept: true, toolCallId: "kept-1" },
  });
  const run = await mail.waiting();
  await mail.decide(run, "approve");
  await expect.poll(async () => (await mail.runs.read(run))?.run.state).toBe(RunState.Ended);
  const again = await mail.caller.call("send", { to: "bob" }, options);
  expect(again).toMatchObject({ content: 'sent {"to":"bob"}, the 1.' });
  expect(await mail.caller.call("send", { to: "eve" }, options).catch((error: unknown) => error)).toMatchObject({
    code: "invalid_arguments",
    details: { reason: "conflict" },
  });
  expect(mail.sent).toBe(1);
});

test("a detached call is told so at once, runs, and the same id gets its end, which counts as no further call", async () => {
  await using mail = await station(
    "everyone: { allow: ['*'], rules: [{ tools: ['*'], rate: { calls: 1, perSeconds: 99 } }] }",
  );
  const options = { keep: Keep.Detached, timeoutMs: 60_000, toolCallId: "detached-1" };
  expect(await mail.caller.call("send", {}, options).catch((error: unknown) => error)).toMatchObject({
    code: "pending",
  });
  await expect.poll(() => mail.sent).toBe(1);
  await expect
    .poll(async () => mail.caller.call("send", {}, options).catch(({ code }: ToolError) => code))
    .toMatchObject({ content: "sent {}, the 1." });
  expect(mail.sent).toBe(1);
});

test("a call of a tool that has a rule for other arguments joins its record, too", async () => {
  await using mail = await station(
    asking("{ tools: [send], by: [ann], arguments: { properties: { to: { const: boss } }, required: [to] } }"),
  );
  await mail.detach("detached-2");
  expect(await mail.caller.call("send", {}, { toolCallId: "detached-2" })).toMatchObject({
    content: "sent {}, the 1.",
  });
  expect(mail.sent).toBe(1);
});

test("only calls with the arguments that a rule names are asked about", async () => {
  await using mail = await station(
    asking("{ tools: [send], by: [ann], arguments: { properties: { to: { const: boss } }, required: [to] } }"),
  );
  expect(await mail.caller.call("send", { to: "bob" })).toMatchObject({ content: expect.stringContaining("bob") });
  const call = mail.caller.call("send", { to: "boss" });
  await mail.decide(await mail.waiting(), "approve");
  expect(await call).toMatchObject({ content: expect.stringContaining("boss") });
});

test("what has changed since the decision is asked for again", async () => {
  await using mail = await station();
  const call = mail.caller.call("send", { to: "bob" });
  const run = await mail.waiting();
  const first = signDecision(privateKey, run, { verdict: "approve", operator: "ann" });
  // The rule is another by the time of the start: the store has the decision, and the service looks at the policy of then.
  await mail.setPolicy(asking("{ tools: [send], by: [bob] }"));
  await mail.decide(run, "approve", "ann");
  await expect.poll(async () => (await mail.waiting()).approval?.asked).toEqual([{ by: ["bob"], needed: 1 }]);
  expect((await mail.waiting()).approval?.decisions).not.toContainEqual(first);
  expect(mail.sent).toBe(0);
  await mail.decide(await mail.waiting(), "approve", "bob");
  expect(await call).toMatchObject({ content: expect.stringContaining("sent") });
});

test("a caller whose right is gone by then is denied, whatever was approved", async () => {
  await using mail = await station();
  const call = mail.caller.call("send", {}).catch((error: unknown) => error);
  const run = await mail.waiting();
  await mail.setPolicy(`everyone: { allow: [] }\n${OPERATORS}`);
  await mail.decide(run, "approve");
  expect(await call).toMatchObject({ code: "denied" });
  expect(mail.sent).toBe(0);
});

test("a decision that the door has not signed, or that was signed for another call, counts for nothing", async () => {
  await using mail = await station();
  void mail.caller.call("send", { to: "bob" }).catch(() => {});
  const run = await mail.waiting();
  expect(await mail.decide({ ...run, runId: "other" }, "approve")).toMatch(/another call/);
  const { approval } = run;
  if (approval === undefined) throw new Error("nobody is asked");
  expect(await mail.decide({ ...run, approval: { ...approval, arguments: '{"to":"eve"}' } }, "approve")).toMatch(
    /another text/,
  );
  expect(await mail.decide(run, "approve", "eve")).toMatch(/not "eve"/);
  expect((await mail.runs.read(run))?.run.state).toBe(RunState.Parked);
});

test("a message that says it is approved, detached or run before is a message like any other", async () => {
  await using mail = await station();
  const headers = { "rb-run": "run-1", "rb-approved": "true", [Header.Keep]: "approved" };
  const body = new TextEncoder().encode(JSON.stringify({ toolCallId: "c9", toolName: "send", arguments: "{}" }));
  await mail.bus.publish(
    createEnvelope({
      topic: "tool.invoke.mail",
      type: messages.ToolInvokeRequest.type,
      source: "ada",
      body,
      headers,
      replyTo: "tool.result.ada",
    }),
  );
  expect(await mail.waiting()).toMatchObject({ toolCallId: "c9", approval: { decisions: [] } });
  expect(mail.sent).toBe(0);
});

test("a call that is cancelled while it waits never runs", async () => {
  await using mail = await station();
  const cancel = new AbortController();
  const call = mail.caller.call("send", {}, { signal: cancel.signal }).catch((error: unknown) => error);
  const run = await mail.waiting();
  cancel.abort();
  await call;
  await expect.poll(async () => (await mail.runs.read(run))?.run.end?.code).toBe("cancelled");
  expect(await mail.decide(run, "approve")).toMatch(/ended/);
  expect(mail.sent).toBe(0);
});

test("a call that waits outlives its service, and the next one runs it", async () => {
  await using runs = await openSqliteRunStore(undefined);
  await using mail = await station(SEND, { store: runs });
  const options = { keep: Keep.IfParked, timeoutMs: 500, toolCallId: "kept-2" };
  await mail.caller.call("send", {}, options).catch(() => {});
  const run = await mail.waiting();
  await mail.service[Symbol.asyncDispose]();
  await using _ = await mail.serve();
  expect(await mail.decide(run, "approve")).toEqual({ state: RunState.Ready });
  await expect.poll(async () => (await runs.read(run))?.run.end?.code).toBe("ok");
  expect(mail.sent).toBe(1);
});

test("a run whose service ends before its tool has started goes to the next one", async () => {
  const held = heldTool("send");
  await using mail = await station(ANYTHING, { tool: held.tool, concurrency: 1 });
  await Promise.all(["long-1", "long-2"].map((id) => mail.detach(id)));
  await expect
    .poll(async () => (await mail.runs.open("mail", 9)).filter(({ hasStarted }) => hasStarted).length)
    .toBe(1);
  held.endAll();
  await expect.poll(() => held.running.length).toBe(1); // the second one has its place now
  await mail.detach("long-3");
  await mail.service[Symbol.asyncDispose]();
  const left = await mail.runs.open("mail", 9);
  expect(left.map(({ toolCallId, state, hasStarted }) => [toolCallId, state, hasStarted]).sort()).toEqual([
    [expect.stringMatching(/long-[12]/), RunState.Running, true],
    ["long-3", RunState.Ready, false],
  ]);
  const next = heldTool("send");
  await using _ = await mail.serve(next.tool);
  await expect.poll(() => next.count).toBe(1);
  next.endAll();
  await expect.poll(async () => (await mail.end("long-3"))?.code).toBe("ok");
});

test("a run whose service is gone in the middle of its tool is of unknown outcome, and one of an idempotent tool runs again", async () => {
  for (const idempotent of [false, true]) {
    let now = 1_000_000;
    await using store = await openSqliteRunStore(undefined, { clock: () => now });
    const held = heldTool("send", { idempotent });
    await using mail = await station(ANYTHING, { tool: held.tool, store });
    await mail.detach("long-1");
    await expect.poll(() => held.count).toBe(1);
    await mail.service[Symbol.asyncDispose]();
    now += LEASE_MS;
    const next = testTool("send", async () => "again", { idempotent });
    await using _ = await mail.serve(next);
    await expect.poll(async () => (await mail.end("long-1"))?.code).toBe(idempotent ? "ok" : "outcome_unknown");
  }
});

test("what was approved once does not run twice, though the tool is idempotent", async () => {
  let now = 1_000_000;
  await using store = await openSqliteRunStore(undefined, { clock: () => now });
  const held = heldTool("send", { idempotent: true });
  await using mail = await station(SEND, { tool: held.tool, store });
  await mail.detach("once-1");
  await mail.decide(await mail.waiting(), "approve");
  await expect.poll(() => held.count).toBe(1);
  await mail.service[Symbol.asyncDispose]();
  now += LEASE_MS;
  await using _ = await mail.serve(testTool("send", async () => "again", { idempotent: true }));
  await expect.poll(async () => (await mail.end("once-1"))?.code).toBe("outcome_unknown");
});

test("an approval that nobody gives in time ends the call, and one that no service picks up does, too", async () => {
  let now = 1_000_000;
  await using store = await openSqliteRunStore(undefined, { clock: () => now });
  await using mail = await station(SEND, { store });
  await mail.detach("late-1");
  await mail.detach("late-2");
  const run = (await mail.runs.open("mail", 9)).find(({ toolCallId }) => toolCallId === "late-2") as Run;
  await mail.service[Symbol.asyncDispose]();
  await new Runs(store).change(run, {
    kind: "decided",
    decision: { statement: "", signature: "" },
    verdict: { is: "approved" },
  });
  now += READY_MS;
  await using _ = await mail.serve(testTool("other", async () => ""));
  await expect.poll(async () => (await mail.end("late-2"))?.code).toBe("unavailable");
  now += 24 * 3_600_000;
  await expect.poll(async () => (await mail.end("late-1"))?.code).toBe("timeout");
});

test("a record that says its tool had begun does not run without its approval, though the tool only reads", async () => {
  await using store = await openSqliteRunStore(undefined);
  const tool = testTool("send", async () => "read", { readOnly: true });
  await using mail = await station(SEND, { store, tool });
  await mail.detach("forged-1");
  const run = await mail.waiting();
  const stored = await store.read(run);
  if (stored === undefined) throw new Error("the run is gone");
  await store.replace(stored, { ...run, state: RunState.Ready, readyAt: stored.now, hasStarted: true });
  await expect.poll(async () => (await mail.end("forged-1"))?.code).toBe("outcome_unknown");
});

test("a service that does not have the tool of a run looks at it now and then", async () => {
  await using store = await openSqliteRunStore(undefined);
  await using mail = await station(SEND, { store });
  await mail.detach("absent-1");
  const run = await mail.waiting();
  await mail.service[Symbol.asyncDispose]();
  let looks = 0;
  const due: RunStore["due"] = (...asked) => {
    looks++;
    return store.due(...asked);
  };
  const counted = changed(store, { due });
  await using other = await station(ANYTHING, { store: counted, tool: testTool("other", async () => "fine") });
  await other.decide(run, "approve");
  for (let call = 0; call < 5; call++) await other.caller.call("other", {});
  expect(looks).toBeLessThan(20);
});

test("any number of runs whose tool is nowhere hold up no other", async () => {
  let now = 1_000_000;
  await using store = await openSqliteRunStore(undefined, { clock: () => now });
  await using mail = await station(SEND, { store });
  await mail.detach("model");
  const model = await mail.waiting();
  const body = Buffer.from(JSON.stringify({ toolCallId: "c1", toolName: "gone", arguments: "{}" })).toString("base64");
  for (let each = 0; each < 300; each++) {
    const name = { runId: `gone-${each}`, caller: `of-${each % 3}`, toolCallId: `gone-${each}`, toolName: "gone" };
    const ready = { state: RunState.Ready, readyAt: now - 6_000, isKept: true, waiters: [], approval: undefined };
    await store.create({ ...model, ...name, ...ready, message: { ...model.message, body } });
  }
  await mail.setPolicy(ANYTHING);
  await mail.detach("here");
  await expect.poll(async () => (await mail.end("here"))?.code).toBe("ok");
  now += READY_MS;
  await expect.poll(async () => (await store.open("mail", 400)).length, { timeout: 20_000 }).toBe(1);
});

test("the line of an end that a process died over is written by another, and then what was asked is gone", async () => {
  let now = 1_000_000;
  await using store = await openSqliteRunStore(undefined, { clock: () => now });
  const lines: AuditLine[] = [];
  const audit = { isWriting: true, write: async (line: AuditLine) => void lines.push(line) };
  await using mail = await station(SEND, { store, audit: { ...audit, async [Symbol.asyncDispose]() {} } });
  await mail.detach("unwritten");
  const run = await mail.waiting();
  lines.length = 0;
  const end = endOf(run, new ToolError("cancelled", "It was cancelled"), now);
  await new Runs(store).change(run, { kind: "cancelled", end });
  expect(lines).toEqual([]);
  now += AUDIT_MS;
  await expect.poll(async () => (await store.read(run))?.run.message.body, { timeout: 20_000 }).toBe("");
  const { caller, toolCallId, toolName: tool } = run;
  expect(lines).toMatchObject([{ caller, toolCallId, tool, outcome: "cancelled", arguments: "{}" }]);
});

test("a run whose tool had begun ends, too, if no service has that tool any more", async () => {
  let now = 1_000_000;
  await using store = await openSqliteRunStore(undefined, { clock: () => now });
  const held = heldTool("send");
  await using mail = await station(ANYTHING, { tool: held.tool, store });
  await mail.detach("gone-1");
  await expect.poll(() => held.count).toBe(1);
  await mail.service[Symbol.asyncDispose]();
  now += LEASE_MS + READY_MS;
  await using _ = await mail.serve(testTool("other", async () => ""));
  await expect.poll(async () => (await mail.end("gone-1"))?.code).toBe("outcome_unknown");
});

test("a start that a crash of the store undoes is none: people are asked again, and it runs once", async () => {
  await using sqlite = await openSqliteRunStore(undefined);
  let before: Run | undefined;
  const replace: RunStore["replace"] = async (read, run) => {
    const isDone = await sqlite.replace(read, run);
    const stored = before && run.hasStarted ? await sqlite.read(run) : undefined;
    if (before !== undefined && stored !== undefined) await sqlite.replace(stored, before);
    if (stored !== undefined) before = undefined;
    return isDone;
  };
  await using mail = await station(SEND, { store: changed(sqlite, { replace, forgetsMs: 1 }) });
  await mail.detach("undone");
  before = await mail.waiting();
  await mail.decide(before, "approve");
  await expect.poll(() => before).toBeUndefined();
  const again = await mail.waiting();
  expect(mail.sent).toBe(0);
  await expect.poll(() => mail.decide(again, "approve")).toEqual({ state: RunState.Ready });
  await expect.poll(() => mail.end("undone")).toMatchObject({ code: "ok" });
  expect(mail.sent).toBe(1);
});
