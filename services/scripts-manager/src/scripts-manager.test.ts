import { type Bus, createMemoryBus, silentLogger } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  messages,
  newId,
  type ScriptInvokeRequest,
  type ScriptInvokeResponse,
} from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { createMemoryRateStore } from "@rockbot/records/rates";
import { pooledRunner } from "@rockbot/sandbox";
import { type TestMaker, testMaker } from "@rockbot/sandbox/test-sandboxes";
import { createReplayer, createToolCaller, type ToolCaller } from "@rockbot/tools";
import { expect, test, vi } from "vitest";
import { configSchema, type ScriptsManagerConfig } from "./generated/config.ts";
import { startScriptsManager } from "./scripts-manager.ts";
import type { ScriptPackages } from "./tool/script-input.ts";
import { scriptRequestForm } from "./tool/script-request-form.ts";

/** As services/index.ts has it. */
const NAMED = { service: "scripts-manager", topic: "script.invoke" };

const TOOL = "execute_python_script";

interface StartOptions {
  readonly packages?: ScriptPackages;
  readonly maker?: TestMaker | undefined;
  readonly settings?: Partial<ScriptsManagerConfig> | undefined;
  readonly policy?: string | undefined;
}

/** A manager whose sandboxes are in memory, and a caller. */
async function start({
  maker = testMaker(),
  packages,
  settings = {},
  policy: text = "everyone: { allow: ['*'] }",
}: StartOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const config = loadConfig(configSchema, { env: {}, overrides: { ...settings } });
  const bus = stack.use(createMemoryBus());
  const policy = holdPolicy(createPolicy(await readPolicy(text, "test")));
  const runner = stack.use(
    pooledRunner(maker, {
      floor: 0,
      ceiling: config.sandboxCeiling,
      idleMs: 60_000,
      keepBytes: 10_000,
      log: silentLogger,
    }),
  );
  stack.use(await startScriptsManager(bus, config, { ...NAMED, runner, packages, policy }));
  const caller = stack.use(await createToolCaller(bus, { agent: "agent" }));
  await caller.discovered();
  const parts = stack.move();
  return { bus, maker, caller, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** What comes to a topic. */
async function hear(bus: Bus, topic: string): Promise<Envelope[] & AsyncDisposable> {
  const heard: Envelope[] = [];
  const subscribed = await bus.subscribe(
    { name: `hear.${newId()}`, topics: [topic], kind: "copy" },
    async (message) => void heard.push(message),
  );
  return Object.assign(heard, { [Symbol.asyncDispose]: () => subscribed[Symbol.asyncDispose]() });
}

/** A request as an agent of the original sends it: without correlation. */
const asOriginal = (request: ScriptInvokeRequest, replyTo: string | undefined = "script.result.RockBot"): Envelope =>
  createEnvelope({
    topic: "script.invoke",
    type: messages.ScriptInvokeRequest.type,
    source: "RockBot",
    replyTo,
    body: encodeMessage("ScriptInvokeRequest", request),
  });

async function answerOf(heard: readonly Envelope[]): Promise<ScriptInvokeResponse> {
  await vi.waitFor(() => expect(heard).toHaveLength(1), { timeout: 10_000 });
  const [answer] = heard as readonly [Envelope];
  expect(answer).toMatchObject({ type: messages.ScriptInvokeResponse.type, source: "scripts-manager" });
  expect(answer.correlationId).toBeUndefined();
  const decoded = decodeMessage("ScriptInvokeResponse", answer.body);
  if (!decoded.ok) throw new Error(decoded.fault.message);
  return decoded.value;
}

test("a caller of ours gets what its script prints, on its topic for results of scripts", async () => {
  await using started = await start();
  await using heard = await hear(started.bus, "script.result.agent");

  const { content, isError, structured } = await started.caller.call(TOOL, { script: "hello" });

  expect({ content, isError }).toEqual({ content: "hello", isError: false });
  expect(structured).toMatchObject({ stdout: "hello", exit_code: 0, truncated: false });
  await vi.waitFor(() => expect(heard.map(({ type }) => type)).toEqual([messages.ToolInvokeResponse.type]));
});

test("a caller of the original gets the response of the original, known by the id in the body", async () => {
  await using started = await start();
  await using heard = await hear(started.bus, "script.result.RockBot");

  await started.bus.publish(
    asOriginal({ toolCallId: "call-1", script: "hello", inputData: null, timeoutSeconds: 30, pipPackages: null }),
  );

  expect(await answerOf(heard)).toEqual({
    toolCallId: "call-1",
    output: "hello",
    stderr: null,
    exitCode: 0,
    isSuccess: true,
    elapsedMs: expect.any(Number),
  });
});

test("a request of the original that names no topic is answered on script.result", async () => {
  await using started = await start();
  await using heard = await hear(started.bus, "script.result");
  const { replyTo: _, ...request } = asOriginal({ toolCallId: "call-1", script: "hello" });

  await started.bus.publish(request);

  expect(await answerOf(heard)).toMatchObject({ output: "hello" });
});

test.each<[string, Partial<ScriptInvokeRequest>, RegExp]>([
  ["a script that is empty", { script: "" }, /script/],
  ["packages where there are none", { pipPackages: ["numpy"] }, /no packages can be installed here/],
  ["a script beyond the bounds", { script: "x".repeat(262_145) }, /script/],
])("to the original, what cannot be run is an answer with the exit code -1: %s", async (_name, request, reason) => {
  await using started = await start();
  await using heard = await hear(started.bus, "script.result.RockBot");

  await started.bus.publish(asOriginal({ toolCallId: "call-1", script: "hello", ...request }));

  expect(await answerOf(heard)).toMatchObject({
    toolCallId: "call-1",
    output: null,
    exitCode: -1,
    isSuccess: false,
    stderr: expect.stringMatching(reason),
  });
});

test("to the original, a body that cannot be read is an answer, too", async () => {
  await using started = await start();
  await using heard = await hear(started.bus, "script.result.RockBot");

  await started.bus.publish({
    ...asOriginal({ toolCallId: "call-1", script: "" }),
    body: Buffer.from('{"toolCallId":"call-1"}'),
  });

  expect(await answerOf(heard)).toMatchObject({
    toolCallId: "call-1",
    exitCode: -1,
    stderr: expect.stringContaining("script"),
  });
});

test("an operator who plays a request of the original again gets what its script prints; one that could not run may yet", async () => {
  await using started = await start();
  await using replayer = createReplayer(started.bus, { forms: [scriptRequestForm] });
  const replay = (request: Partial<ScriptInvokeRequest>) =>
    replayer.replay(asOriginal({ toolCallId: newId(), script: "hello", ...request }), "scripts-manager", {
      timeoutMs: 20_000,
    });

  expect(await replay({})).toMatchObject({
    reply: { toolName: TOOL, content: "hello", isError: false },
    isFinal: true,
  });
  expect(await replay({ pipPackages: ["numpy"] })).toMatchObject({
    reply: { code: "execution_failed", message: expect.stringContaining("no packages can be installed here") },
    isFinal: false,
  });
});

test.each<[unknown, number]>([
  [undefined, 30_000],
  [null, 30_000],
  [5, 5_000],
  ["7", 7_000],
  [0.001, 1_000],
  [-3, 1_000],
  [100_000, 50_000],
])("a time-out of %j gives the script %d ms", async (timeout_seconds, timeoutMs) => {
  await using started = await start({ settings: { maxTimeoutSeconds: 50 } });

  const { content } = await started.caller.call(TOOL, { script: "job", timeout_seconds });

  expect(JSON.parse(content ?? "").timeoutMs).toBe(timeoutMs);
});

test("a script has to end before the deadline of its call, and is told so in whole numbers", async () => {
  await using started = await start();

  const { content } = await started.caller.call(
    TOOL,
    { script: "job", timeout_seconds: 60.0004 },
    { timeoutMs: 10_000 },
  );

  const { timeoutMs, withinMs } = JSON.parse(content ?? "");
  expect(timeoutMs).toBe(60_000);
  expect(withinMs).toSatisfy((ms: number) => Number.isInteger(ms) && ms > 0 && ms <= 9_500);
});

test("packages are waited for as long as the script has the time that it asks for, and for half of its call's time in any case", async () => {
  const waits: number[] = [];
  const packages: ScriptPackages = {
    async ensure(_, { until }) {
      waits.push(until - performance.now());
      return { key: "layer", pinned: [] };
    },
  };
  await using started = await start({ packages });

  for (const timeout_seconds of [10, 60, 300])
    await started.caller.call(TOOL, { script: "job", timeout_seconds, pip_packages: ["numpy"] }, { timeoutMs: 60_000 });

  expect(waits.map((ms) => Math.ceil(ms / 10_000) * 10)).toEqual([50, 30, 30]);
});

test("a time-out that is no number is refused to ours, and the default to the original", async () => {
  await using started = await start();
  await using heard = await hear(started.bus, "script.result.RockBot");

  await expect(started.caller.call(TOOL, { script: "job", timeout_seconds: "soon" })).rejects.toMatchObject({
    code: "invalid_arguments",
  });
  await started.bus.publish(asOriginal({ toolCallId: "call-1", script: "job", timeoutSeconds: "soon" }));

  expect(JSON.parse((await answerOf(heard)).output ?? "").timeoutMs).toBe(30_000);
});

test("what is larger than the settings allow is refused with all faults, before a sandbox is taken", async () => {
  await using started = await start({ settings: { maxScriptBytes: 1_000, maxInputBytes: 10 } });
  const before = started.maker.made.length;

  const call = started.caller.call(TOOL, { script: "ä".repeat(501), input_data: "12345678901" });

  await expect(call).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringMatching(/script has 1002 bytes.*input_data has 11 bytes/),
  });
  expect(started.maker.made).toHaveLength(before);
});

test("a call that is cancelled has no script that runs", async () => {
  await using started = await start();
  const cancel = new AbortController();
  const call = started.caller.call(TOOL, { script: "hold" }, { signal: cancel.signal });
  await vi.waitFor(() => expect(started.maker.alive.some(({ assigned }) => assigned.length > 0)).toBe(true));

  cancel.abort();

  await expect(call).rejects.toMatchObject({ code: "cancelled" });
  await vi.waitFor(() => expect(started.maker.alive.filter(({ assigned }) => assigned.length > 0)).toEqual([]));
});

test("script seconds are taken when a script starts, and what it has not used is given back", async () => {
  const policy = "callers: { agent: { allow: ['*'], limits: { scriptSecondsPerHour: 100 } } }";
  await using started = await start({ policy });
  const hold = new AbortController();
  for (let i = 0; i < 5; i++) await started.caller.call(TOOL, { script: "quick", timeout_seconds: 90 });

  const held = started.caller
    .call(TOOL, { script: "hold", timeout_seconds: 90 }, { signal: hold.signal, timeoutMs: 120_000 })
    .catch(() => {});
  await vi.waitFor(() => expect(started.maker.alive.some(({ assigned }) => assigned.length > 0)).toBe(true));
  await expect(started.caller.call(TOOL, { script: "quick", timeout_seconds: 90 })).rejects.toMatchObject({
    code: "rate_limited",
    retryAfterMs: expect.any(Number),
    details: { reason: "script_seconds" },
  });
  expect((await started.caller.call(TOOL, { script: "quick", timeout_seconds: 2 })).content).toBe("quick");

  hold.abort();
  await held;
  await vi.waitFor(
    async () =>
      expect((await started.caller.call(TOOL, { script: "quick", timeout_seconds: 90 })).content).toBe("quick"),
    { timeout: 10_000 },
  );
});

test("script seconds of a script that goes on without its manager stay taken", async () => {
  await using bus = createMemoryBus();
  await using rates = createMemoryRateStore();
  const maker = testMaker({ find: async () => undefined });
  await using runner = pooledRunner(maker, {
    floor: 0,
    ceiling: 4,
    idleMs: 60_000,
    keepBytes: 10_000,
    log: silentLogger,
  });
  const policy = holdPolicy(
    createPolicy(
      await readPolicy("callers: { agent: { allow: ['*'], limits: { scriptSecondsPerHour: 100 } } }", "test"),
    ),
  );
  const startManager = () =>
    startScriptsManager(bus, loadConfig(configSchema, { env: {}, overrides: { shutdownGraceMs: 1 } }), {
      ...NAMED,
      runner,
      policy,
      rates,
    });
  const stopped = await startManager();
  await using caller = await createToolCaller(bus, { agent: "agent" });
  await caller.discovered();
  caller.call(TOOL, { script: "hold", timeout_seconds: 90 }).catch(() => {});
  await vi.waitFor(() => expect(maker.alive.some(({ assigned }) => assigned.length > 0)).toBe(true));

  await stopped[Symbol.asyncDispose]();
  await using _next = await startManager();

  await expect(caller.call(TOOL, { script: "quick", timeout_seconds: 50 })).rejects.toMatchObject({
    code: "rate_limited",
  });
});

test("of two callers, the one that comes later with few calls does not wait for all calls of the other", async () => {
  let isOpen = true;
  const opened = Promise.withResolvers<void>();
  const aTurn = () => new Promise<void>((resolve) => void setImmediate(resolve)); // else all would be over before a call of the other is read
  await using started = await start({
    settings: { sandboxCeiling: 1 },
    maker: testMaker({ beforeMake: () => (isOpen ? undefined : opened.promise.then(aTurn)) }),
  });
  isOpen = false;
  await using other = await createToolCaller(started.bus, { agent: "other" });
  await other.discovered();
  const order: string[] = [];
  const note = async (name: string, call: Promise<unknown>) => {
    await call;
    order.push(name);
  };

  const many = Array.from({ length: 20 }, () => note("many", started.caller.call(TOOL, { script: "x" })));
  await expect.poll(() => acceptedBy(started.caller)).toBe(20);
  const few = [1, 2].map(() => note("few", other.call(TOOL, { script: "x" })));
  await expect.poll(() => acceptedBy(other)).toBe(2);
  opened.resolve();
  await Promise.all([...many, ...few]);

  expect(order.lastIndexOf("few")).toBeLessThan(10);
});

test("nothing is served where it cannot be shown that scripts have no network", async () => {
  await using bus = createMemoryBus();
  await using runner = pooledRunner(testMaker(), {
    floor: 0,
    ceiling: 1,
    idleMs: 60_000,
    keepBytes: 10_000,
    log: silentLogger,
  });
  const unreachable = { name: "the broker", host: "127.0.0.1", port: 1, isRequired: true };

  const starting = startScriptsManager(bus, loadConfig(configSchema, { env: {} }), {
    ...NAMED,
    runner,
    mustNotReach: [unreachable],
  });

  await expect(starting).rejects.toMatchObject({ code: "unavailable", message: expect.stringContaining("the broker") });
  expect(await bus.inspect("scripts-manager")).toBeUndefined();
});

/** How many calls have been accepted, answered ones among them. */
async function acceptedBy({ journal }: ToolCaller): Promise<number> {
  return (await journal.recent(100)).filter(({ steps }) => steps.some(({ step }) => step === "accepted")).length;
}

test("the guide says what there is and what the bounds are", async () => {
  await using started = await start({ settings: { maxTimeoutSeconds: 77, memoryMiB: 99 } });
  const [guide] = (await started.caller.getGuides()).filter(({ name }) => name === "scripts");

  expect(guide?.document).toMatch(/77 s/);
  expect(guide?.document).toMatch(/99 MiB/);
  expect(guide?.document).toMatch(/`pip_packages` is refused here/);
});
