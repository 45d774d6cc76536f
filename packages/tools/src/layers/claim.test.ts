import { silentLogger } from "@rockbot/bus";
import { ToolError, type ToolInvokeResponse, textResponse } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { type ClaimKey, type ClaimOptions, type ClaimStore, createMemoryClaimStore } from "@rockbot/records/claims";
import { createMemoryRateStore } from "@rockbot/records/rates";
import { expect, onTestFinished, test, vi } from "vitest";
import type { ResumableCallContext } from "../define/define-tool.ts";
import type { ToolContext } from "../define/tool-executor.ts";
import { SupersededError } from "../superseded-error.ts";
import { testTool } from "../test-tools.ts";
import { CallClaims } from "./claim.ts";
import { servingLayers } from "./layers.ts";
import { ResultCache } from "./result-cache.ts";

const request = { toolCallId: "call-1", toolName: "effect", arguments: "{}", sessionId: null };
const key = { caller: "agent", toolCallId: "call-1" };

/** A tool that counts its runs; one executor for each owner, as if each were an instance of the service. */
function instances(
  store: ClaimStore,
  run: () => Promise<string>,
  { readOnly = false, idempotent = false, isResumable = false, waitsForClaims = false, seesAll = true } = {},
) {
  let runs = 0;
  const mayHaveBegun: (boolean | undefined)[] = [];
  const tool = testTool("effect", async (_input, context: ResumableCallContext) => {
    runs++;
    mayHaveBegun.push(context.mayHaveBegun);
    return run();
  });
  const definition = { ...tool.definition, readOnly, idempotent };
  const instance = () =>
    servingLayers({
      concurrency: 32,
      waiting: 32,
      claims: new CallClaims(store, { seesAll }),
      rates: createMemoryRateStore(),
      results: new ResultCache(),
    })({
      definition,
      executor: tool.executor,
      isResumable,
      waitsForClaims,
    });
  return { instance, runs: () => runs, mayHaveBegun };
}

function context(more: Partial<ToolContext> = {}): ToolContext {
  return {
    signal: new AbortController().signal,
    deadline: performance.now() + 10_000,
    caller: "agent",
    progress: () => {},
    log: silentLogger,
    ...more,
  };
}

const answer = textResponse(request, "done");

test("a call that is delivered again gets the first run's answer, from this instance and from another", async () => {
  await using store = createMemoryClaimStore();
  const { instance, runs } = instances(store, async () => "done");
  const first = instance();
  for (const executor of [first, first, instance()]) expect(await executor.execute(request, context())).toEqual(answer);
  expect(runs()).toBe(1);
});

test("deliveries at the same time share one run, here and elsewhere", async () => {
  await using store = createMemoryClaimStore();
  const release = Promise.withResolvers<string>();
  const { instance, runs } = instances(store, () => release.promise);
  const [here, elsewhere] = [instance(), instance()];
  const answers = [here, here, elsewhere, elsewhere].map((executor) => executor.execute(request, context()));
  await expect.poll(async () => (await store.look(key))?.state).toBe("held");
  release.resolve("done");
  expect(await Promise.all(answers)).toEqual([answer, answer, answer, answer]);
  expect(runs()).toBe(1);
});

test("the same call of two callers is two calls", async () => {
  await using store = createMemoryClaimStore();
  const { instance, runs } = instances(store, async () => "done");
  await instance().execute(request, context());
  await instance().execute(request, context({ caller: "another" }));
  expect(runs()).toBe(2);
});

test("one id with other arguments is refused in words", async () => {
  await using store = createMemoryClaimStore();
  const { instance, runs } = instances(store, async () => "done");
  await instance().execute(request, context());
  const other = { ...request, arguments: '{"a":1}' };
  for (const executor of [instance(), instance()]) {
    await expect(executor.execute(other, context())).rejects.toMatchObject({
      code: "invalid_arguments",
      details: { reason: "conflict" },
    });
  }
  expect(runs()).toBe(1);
});

test("a tool's failure is an outcome: it is kept, not repeated", async () => {
  await using store = createMemoryClaimStore();
  const { instance, runs } = instances(store, async () => {
    throw new ToolError("execution_failed", "it broke");
  });
  for (const executor of [instance(), instance()])
    await expect(executor.execute(request, context())).rejects.toMatchObject({
      code: "execution_failed",
      message: "it broke",
    });
  expect(runs()).toBe(1);
});

test("a call that was refused before it started may come again", async () => {
  await using store = createMemoryClaimStore();
  const { instance, runs } = instances(store, async () => "done");
  await expect(instance().execute(request, context({ deadline: performance.now() - 1 }))).rejects.toMatchObject({
    code: "timeout",
    details: { mayHaveRun: false },
  });
  expect(await instance().execute(request, context())).toEqual(answer);
  expect(runs()).toBe(1);
});

test.each([
  [{ idempotent: false }, "outcome_unknown", 0],
  [{ idempotent: true }, "done", 1],
  [{ readOnly: true }, "done", 1],
  [{ isResumable: true }, "done", 1],
])("whoever ran the call is gone: a tool that is %j ends in %s", async (kind, outcome, runsExpected) => {
  await using store = createMemoryClaimStore();
  const { instance, runs } = instances(store, async () => "done", kind);
  // The claim of an owner who died: nobody renews it.
  await store.claim(key, { owner: "dead", requestHash: await requestHashOf(), leaseMs: 1 });
  const result: ToolInvokeResponse | ToolError = await instance()
    .execute(request, context())
    .catch((error: ToolError) => error);
  expect(result instanceof ToolError ? result.code : result.content).toBe(outcome);
  expect(runs()).toBe(runsExpected);
});

test("a resumable tool is told when its call may have begun before, and only then", async () => {
  await using store = createMemoryClaimStore();
  const { instance, mayHaveBegun } = instances(store, async () => "done", { isResumable: true });
  const call = (toolCallId: string, more: Partial<ToolContext> = {}) =>
    instance().execute({ ...request, toolCallId }, context(more));

  await call("fresh");
  await call("redelivered", { maybeTakenSince: performance.now() + 60_000 });
  await call("redelivered, and its claim is gone with the store", { maybeTakenSince: performance.now() - 60_000 });
  await store.claim(
    { ...key, toolCallId: "taken over" },
    { owner: "dead", requestHash: await requestHashOf(), leaseMs: 1 },
  );
  await call("taken over");

  expect(mayHaveBegun).toEqual([undefined, undefined, true, true]);
});

test.each([
  ["10 s after the store was emptied", 10_000, "done"],
  ["just after it, which two clocks may see differently", 1_000, "outcome_unknown"],
  ["at the same moment", 0, "outcome_unknown"],
  ["before it", -1, "outcome_unknown"],
  ["nobody knows when", Number.NEGATIVE_INFINITY, "outcome_unknown"],
])("a call that somebody may have taken, first %s, and of which there is no claim", async (_name, sinceMs, outcome) => {
  await using store = createMemoryClaimStore({ clock: () => 0 });
  const { instance, runs } = instances(store, async () => "done");
  const result: ToolInvokeResponse | ToolError = await instance()
    .execute(request, context({ maybeTakenSince: sinceMs }))
    .catch((error: ToolError) => error);
  expect(result instanceof ToolError ? result.code : result.content).toBe(outcome);
  expect(runs()).toBe(outcome === "done" ? 1 : 0);
});

test("a call that another process may have taken is not run where only this process's claims are known, however long they have been kept", async () => {
  await using store = createMemoryClaimStore({ clock: () => -1e9 });
  const { instance, runs } = instances(store, async () => "done", { seesAll: false });
  const executor = instance();
  await expect(executor.execute(request, context({ maybeTakenSince: performance.now() - 1 }))).rejects.toMatchObject({
    code: "outcome_unknown",
  });
  expect(runs()).toBe(0);
  const own = { ...request, toolCallId: "its own" };
  const first = await executor.execute(own, context());
  expect(await executor.execute(own, context({ maybeTakenSince: performance.now() - 1 }))).toEqual(first);
  expect(runs()).toBe(1);
});

test("a call that somebody else runs is not run here when the store loses that claim", async () => {
  let store = createMemoryClaimStore();
  const forgetful = new Proxy(store, { get: (_target, property) => Reflect.get(store, property).bind(store) });
  const release = Promise.withResolvers<string>();
  const { instance, runs } = instances(forgetful, () => release.promise);
  const elsewhere = instance().execute(request, context());
  await expect.poll(async () => (await store.look(key))?.state).toBe("held");
  const here = instance().execute(request, context()); // sees that, and watches
  await new Promise((resolve) => setImmediate(resolve));
  store = createMemoryClaimStore();
  await expect(here).rejects.toMatchObject({ code: "outcome_unknown" });
  release.resolve("done");
  await expect(elsewhere).rejects.toBeInstanceOf(SupersededError);
  expect(runs()).toBe(1);
});

test("a call whose claim the store has lost gives its answer, which is kept again", async () => {
  let store = createMemoryClaimStore();
  const forgetful = new Proxy(store, { get: (_target, property) => Reflect.get(store, property).bind(store) });
  const { instance, runs } = instances(forgetful, async () => {
    store = createMemoryClaimStore();
    return "done";
  });
  expect(await instance().execute(request, context())).toEqual(answer);
  expect(await instance().execute(request, context({ maybeTakenSince: Number.NEGATIVE_INFINITY }))).toEqual(answer);
  expect(runs()).toBe(1);
});

test("a call that runs is claimed anew when the store has lost its claim, until it is over", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  let store = createMemoryClaimStore();
  const forgetful = new Proxy(store, { get: (_target, property) => Reflect.get(store, property).bind(store) });
  const release = Promise.withResolvers<string>();
  const { instance, runs } = instances(forgetful, () => release.promise);
  const running = instance().execute(request, context({ deadline: performance.now() + 60_000 }));
  await expect.poll(async () => (await store.look(key))?.state).toBe("held");
  store = createMemoryClaimStore();
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await store.look(key))?.state).toBe("held");
  release.resolve("done");
  expect(await running).toEqual(answer);
  expect(await instance().execute(request, context())).toEqual(answer); // asked again by its id
  expect(runs()).toBe(1);
});

test("the claims of all calls that run are renewed, and of those that have ended none", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  await using store = createMemoryClaimStore();
  const release = Promise.withResolvers<string>();
  const { instance } = instances(store, () => release.promise);
  const executor = instance();
  const ids = ["call-1", "call-2"];
  const answers = ids.map((toolCallId) =>
    executor.execute({ ...request, toolCallId }, context({ deadline: performance.now() + 120_000 })),
  );
  const states = () =>
    Promise.all(ids.map(async (toolCallId) => (await store.look({ caller: "agent", toolCallId }))?.state));
  await expect.poll(states).toEqual(["held", "held"]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await states()).toEqual(["held", "held"]);
  release.resolve("done");
  await Promise.all(answers);
  expect(await states()).toEqual(["done", "done"]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(vi.getTimerCount()).toBe(0);
});

test("a result is dropped when the call was taken over while it ran", async () => {
  await using store = createMemoryClaimStore();
  const { instance } = instances(store, async () => {
    await store.cancel(key);
    return "too late";
  });
  await expect(instance().execute(request, context())).rejects.toBeInstanceOf(SupersededError);
});

test("a repeat that has joined a run which is taken over gets the outcome that is kept: who took it over may be gone", async () => {
  let aheadMs = 0;
  await using store = createMemoryClaimStore({ clock: () => performance.now() + aheadMs });
  const release = Promise.withResolvers<string>();
  const { instance, runs } = instances(store, () => release.promise);
  const here = instance();
  const [first, repeat] = [here.execute(request, context()), here.execute(request, context())];
  const ended = Promise.allSettled([first, repeat]);
  await expect.poll(async () => (await store.look(key))?.state).toBe("held");
  aheadMs += 60_000; // no lease lasts so long
  await expect(instance().execute(request, context())).rejects.toMatchObject({ code: "outcome_unknown" });
  release.resolve("too late");

  expect(await ended).toMatchObject([{ reason: expect.any(SupersededError) }, { reason: { code: "outcome_unknown" } }]);
  expect(runs()).toBe(1);
});

test("a call that was cancelled before it is taken never starts", async () => {
  await using store = createMemoryClaimStore();
  const { instance, runs } = instances(store, async () => "done");
  await store.cancel(key);
  await expect(instance().execute(request, context())).rejects.toMatchObject({
    code: "cancelled",
    details: { mayHaveRun: true },
  });
  expect(runs()).toBe(0);
});

test.each([
  [{ idempotent: false }, "unavailable"],
  [{ idempotent: true }, "done"],
  [{ readOnly: true }, "done"],
])("without the store a tool that is %j ends in %s", async (kind, outcome) => {
  const store = createMemoryClaimStore();
  await store[Symbol.asyncDispose]();
  await expect(store.look(key)).rejects.toBeInstanceOf(StoreUnavailableError);
  const { instance, runs } = instances(store, async () => "done", kind);
  const result: ToolInvokeResponse | ToolError = await instance()
    .execute(request, context())
    .catch((error: ToolError) => error);
  expect(result instanceof ToolError ? result.code : result.content).toBe(outcome);
  expect(runs()).toBe(outcome === "done" ? 1 : 0);
});

/** A store that does not answer the first claims. */
function silentAtFirst(store: ClaimStore, claims: number): ClaimStore {
  let left = claims;
  return new Proxy(store, {
    get(target, property) {
      const own = Reflect.get(target, property).bind(target);
      if (property !== "claim" || left === 0) return own;
      left--;
      return () => Promise.reject(new StoreUnavailableError("Cannot take a claim: the store does not answer"));
    },
  });
}

test("a redelivered call waits for a store that does not answer, and gets the result that is kept there", async () => {
  await using store = createMemoryClaimStore();
  await instances(store, async () => "done")
    .instance()
    .execute(request, context());
  const { instance, runs } = instances(silentAtFirst(store, 2), async () => "again");
  expect(await instance().execute(request, context({ maybeTakenSince: performance.now() }))).toEqual(answer);
  expect(runs()).toBe(0);
});

test("a redelivered call with effects is not said to be unstarted when the store does not answer in its time", async () => {
  await using store = createMemoryClaimStore();
  const { instance, runs } = instances(silentAtFirst(store, Number.POSITIVE_INFINITY), async () => "done");
  const redelivered = context({ maybeTakenSince: performance.now(), deadline: performance.now() + 300 });
  await expect(instance().execute(request, redelivered)).rejects.toMatchObject({
    code: "outcome_unknown",
    details: { mayHaveRun: true },
  });
  expect(runs()).toBe(0);
});

test("a call of which somebody was told waits for a store that does not answer, and says that it was not started if its time is over", async () => {
  await using store = createMemoryClaimStore();
  const options = { isResumable: true, waitsForClaims: true };
  const { instance, runs } = instances(silentAtFirst(store, 2), async () => "done", options);
  expect(await instance().execute(request, context())).toEqual(answer);
  const late = instances(silentAtFirst(store, Number.POSITIVE_INFINITY), async () => "done", options);
  await expect(late.instance().execute(request, context({ deadline: performance.now() + 100 }))).rejects.toMatchObject({
    code: "unavailable",
  });
  expect([runs(), late.runs()]).toEqual([1, 0]);
});

test("a store that goes away during the run changes nothing for the caller", async () => {
  const store = createMemoryClaimStore();
  const { instance } = instances(store, async () => {
    await store[Symbol.asyncDispose]();
    return "done";
  });
  expect(await instance().execute(request, context())).toEqual(answer);
});

/** The hash under which the layer claims `request`, seen on its way to a store. */
async function requestHashOf(): Promise<string> {
  await using store = createMemoryClaimStore();
  const hash = Promise.withResolvers<string>();
  const watched = new Proxy(store, {
    get(target, property) {
      if (property !== "claim") return Reflect.get(target, property).bind(target);
      return (of: ClaimKey, options: ClaimOptions) => {
        hash.resolve(options.requestHash);
        return target.claim(of, options);
      };
    },
  });
  await instances(watched, async () => "done")
    .instance()
    .execute(request, context());
  return hash.promise;
}

test.each([
  ["that another may have begun ends in outcome_unknown", Number.NEGATIVE_INFINITY, "outcome_unknown", true],
  ["that nobody else can have begun is refused", undefined, "unavailable", false],
])("a call of a resumable tool that refuses it and %s", async (_, maybeTakenSince, code, mayHaveRun) => {
  await using store = createMemoryClaimStore();
  const refuse = async (): Promise<string> => {
    throw new ToolError("unavailable", "The message was not taken.", { details: { mayHaveRun: false } });
  };
  const { instance, runs } = instances(store, refuse, { isResumable: true });
  for (const executor of [instance(), instance()])
    await expect(executor.execute(request, context({ maybeTakenSince }))).rejects.toMatchObject({
      code,
      details: { mayHaveRun },
    });
  expect(runs()).toBe(1);
});
