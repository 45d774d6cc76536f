import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { createMemoryBus } from "@rockbot/bus";
import { Header } from "@rockbot/contracts";
import type { LeaseStore } from "@rockbot/records/leases";
import { connectRedisLeaseStore } from "@rockbot/records/leases/redis";
import { sharedRedisUrl } from "@rockbot/testing";
import { createIdentity, type ToolCaller } from "@rockbot/tools";
import { createMemoryTrustStore, type TrustStore } from "@rockbot/trust";
import { expect, test } from "vitest";
import { announcedTools, faulty, rawCaller, startTestBridge } from "../test-bridge.ts";
import { handOverCalls } from "./hand-over-calls.ts";
import { NotTakenError } from "./hand-over-error.ts";

const url = await sharedRedisUrl();

interface Replicas extends AsyncDisposable {
  readonly first: Awaited<ReturnType<typeof startTestBridge>>;
  readonly second: Awaited<ReturnType<typeof startTestBridge>>;
  /** Takes its leases from the first replica: it cannot renew them. */
  silenceFirst(): Promise<void>;
}

/** Two replicas with one server with state, which the first has, and one store of what is approved. */
async function startReplicas(entry: object = {}): Promise<Replicas> {
  await using started = new AsyncDisposableStack();
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  const leases: LeaseStore[] = [];
  for (const _ of [1, 2]) leases.push(started.use(await connectRedisLeaseStore(url, { prefix })));
  const bus = started.use(createMemoryBus());
  const trustStore = started.use(createMemoryTrustStore());
  const servers = () => ({ keeps: { ...faulty(), stateful: true, ...entry } });
  const first = started.use(await startTestBridge(servers, { bus, trustStore, leases: leases[0] as LeaseStore }));
  const second = started.use(await startTestBridge(servers, { bus, trustStore, leases: leases[1] as LeaseStore }));
  await expect.poll(() => second.bridge.servers[0]?.tools, { timeout: 20_000 }).toBeGreaterThan(0);
  const running = started.move();
  return {
    first,
    second,
    async silenceFirst() {
      await leases[0]?.[Symbol.asyncDispose]();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const count = async (caller: ToolCaller) =>
  JSON.parse((await caller.call("keeps__count", {})).content ?? "{}") as { count: number; pid: number };

test("a server with state is one process, whichever replica gets a call, and both announce its tools", async () => {
  await using replicas = await startReplicas();
  const { first, second } = replicas;
  let handedOver = 0;
  await using _ = await first.bus.subscribe(
    { name: "listening", topics: ["mcp.owner.*"], kind: "copy" },
    async () => void handedOver++,
  );
  const counts = [];
  for (let i = 0; i < 10; i++) counts.push(await count(first.caller)); // the bus hands them to both in turn
  expect(counts.map((one) => one.count)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(new Set(counts.map(({ pid }) => pid)).size).toBe(1);
  expect(handedOver).toBeGreaterThan(0);
  expect(handedOver).toBeLessThan(10);
  expect(first.bridge.servers[0]?.tools).toBe(second.bridge.servers[0]?.tools);
  await expect.poll(() => announcedTools(first.caller)).toContain("keeps__count");
  const [own, others] = [first, second].map(({ bridge }) => bridge.servers[0]?.owner);
  expect([own?.isThis, others?.isThis, others?.replica]).toEqual([true, false, own?.replica]);
});

test("what a handed-over call gives, says meanwhile and fails with is as of any other, and it can be cancelled", async () => {
  await using replicas = await startReplicas();
  const { caller, folder } = replicas.first;
  const twice = async <T>(call: () => Promise<T>): Promise<T[]> => Promise.all([call(), call()]); // one of them in each replica
  expect(await twice(() => caller.call("keeps__echo", { a: 1 }))).toMatchObject([
    { content: '{"a":1}' },
    { content: '{"a":1}' },
  ]);
  const failed = await twice(() => caller.call("keeps__long_line", {}).catch((error: unknown) => error));
  expect(failed).toMatchObject([{ code: "too_large" }, { code: "too_large" }]);
  const cancel = new AbortController();
  const file = join(folder.path, "runs");
  const hanging = twice(() =>
    caller.call("keeps__hang", { file }, { signal: cancel.signal }).catch((error: unknown) => error),
  );
  await twice(() => caller.call("keeps__echo", {}));
  cancel.abort();
  expect(await hanging).toMatchObject([{ code: "cancelled" }, { code: "cancelled" }]);
  await expect
    .poll(async () => JSON.parse((await caller.call("keeps__cancelled", {})).content ?? "[]"), { timeout: 10_000 })
    .toHaveLength(2);
});

test("progress passes between replicas", async () => {
  await using replicas = await startReplicas();
  for (const { caller } of [replicas.first, replicas.second]) {
    // An answer waits a quarter of a second for progress that it has overtaken, which a busy machine may need more than
    // once.
    const heard = async (): Promise<number> => {
      const updates: unknown[] = [];
      await caller.call("keeps__progress", {}, { onProgress: ({ progress }) => updates.push(progress) });
      return updates.length;
    };
    await expect.poll(heard, { timeout: 15_000 }).toBeGreaterThan(0);
  }
});

test("a replica that ends gives the server to the other one, and nothing is lost", async () => {
  await using replicas = await startReplicas();
  const { first, second } = replicas;
  const { pid } = await count(second.caller);
  await first.bridge[Symbol.asyncDispose]();
  const after = await count(second.caller);
  expect(after).toMatchObject({ count: 1 });
  expect(after.pid).not.toBe(pid);
});

test("a replica that cannot renew its lease sends no more calls; the other has the server within seconds, and calls in flight end", async () => {
  await using replicas = await startReplicas();
  const { caller } = replicas.second;
  const { pid } = await count(caller);
  const inFlight = [1, 2].map(() =>
    caller.call("keeps__hang", {}, { timeoutMs: 60_000 }).catch((error: unknown) => error),
  );
  await caller.call("keeps__echo", {});
  await replicas.silenceFirst();
  await expect
    .poll(async () => (await count(caller).catch(() => undefined))?.pid ?? pid, { timeout: 30_000 })
    .not.toBe(pid);
  // What the second had handed over is of unknown outcome; the first waits for its own, whose server is there and only
  // cut off.
  expect(await Promise.race(inFlight)).toMatchObject({ code: "outcome_unknown" });
});

test("a call that comes before the next replica knows what the server offers waits for that, and is not unknown", async () => {
  await using bus = createMemoryBus();
  await using leases = await connectRedisLeaseStore(url, { prefix: `test-${randomBytes(6).toString("hex")}` });
  const approved = createMemoryTrustStore();
  const known = Promise.withResolvers<void>();
  const read: TrustStore["read"] = (name) => known.promise.then(() => approved.read(name));
  const servers = () => ({ keeps: { ...faulty(), stateful: true } });
  await using replica = await startTestBridge(servers, { bus, leases, trustStore: { ...approved, read }, settleMs: 0 });
  const owner = () => replica.bridge.servers[0]?.owner?.replica;
  await expect.poll(owner).toBeDefined();
  await using other = await handOverCalls(bus, { instance: "other", identity: createIdentity(bus, undefined) });
  const { signal } = new AbortController();
  const call = (tool: string) =>
    other.call(
      { instance: owner() ?? "", server: "keeps", tool, args: {}, ownerGone: signal },
      { timeoutMs: 10_000, signal, onProgress: () => {} },
    );
  await expect(call("echo")).rejects.toThrow(NotTakenError); // the other one keeps the call, and asks again
  known.resolve();
  await expect.poll(() => call("echo").catch(() => undefined), { timeout: 10_000 }).toMatchObject({ content: "{}" });
  await expect(call("no_such_tool")).rejects.toMatchObject({ code: "tool_not_found" });
});

test("a call that may be repeated is made again by the replica that has the server next", async () => {
  await using replicas = await startReplicas({ trustAnnotations: true });
  const { caller, folder } = replicas.first;
  const file = join(folder.path, "crashed");
  const calls = await Promise.all([1, 2].map(() => caller.call("keeps__crash_once", { file }, { timeoutMs: 30_000 })));
  expect(calls).toMatchObject([{ content: "the second time" }, { content: "the second time" }]);
});

test("a definition that changes is held by the replica that has the server and by the other, and is approved for both at either", {
  timeout: 60_000,
}, async () => {
  await using replicas = await startReplicas({ toolsAllowed: ["echo", "redefine"] });
  const { first, second } = replicas;
  const ask = rawCaller(first.bus);
  const echoOf = () =>
    ask("echo", { [Header.McpServer]: "keeps" }) as Promise<{ readonly code?: string; readonly content?: string }>;
  const standing = () => [first, second].map(({ bridge }) => bridge.servers[0]);
  const both = (counts: object) => [counts, counts].map((one) => expect.objectContaining(one));
  for (const [approver, description] of [
    [second, "The fault echo!"],
    [first, "The fault echo?"],
  ] as const) {
    await first.caller.call("keeps__redefine", { tool: "echo", description });
    const meanwhile: unknown[] = [];
    const look = async () => {
      const { code, content } = await echoOf();
      meanwhile.push(code ?? content);
      return standing();
    };
    await expect.poll(look, { timeout: 20_000 }).toEqual(both({ tools: 1, held: 1 }));
    expect(meanwhile.filter((answer) => answer !== "denied" && answer !== "{}")).toEqual([]); // one that does not know it yet asks one that does
    expect(await Promise.all([echoOf(), echoOf()])).toMatchObject(
      [1, 2].map(() => ({ code: "denied", message: expect.stringContaining("has changed since it was approved") })),
    );
    await expect.poll(() => announcedTools(first.caller), { timeout: 10_000 }).toEqual(["keeps__redefine"]);

    const { tools } = await approver.bridge.approvals.waiting();
    expect(tools).toMatchObject([{ server: "keeps", tool: "echo", reason: "changed" }]);
    expect(await approver.bridge.approvals.approve({ tools, servers: [] }, "ada")).toEqual({
      approved: ["keeps: echo"],
      stale: [],
    });
    await expect.poll(standing, { timeout: 20_000 }).toEqual(both({ tools: 2, held: 0 }));
    expect(await Promise.all([echoOf(), echoOf()])).toMatchObject([{ content: "{}" }, { content: "{}" }]);
  }
});
