import { matchesGlob } from "node:path";
import { silentLogger } from "@rockbot/bus";
import { CallState } from "@rockbot/records/journal";
import { SharedRecords } from "@rockbot/records/shared";
import { type Run, RunState } from "@rockbot/runs";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import { redisRules, serviceNamed } from "@rockbot/services";
import { type OpenedState, openState, type SharedState, stateKinds } from "@rockbot/services/state";
import { startOwnRedis } from "@rockbot/testing";
import { expect, test } from "vitest";

const run: Run = {
  runId: "r",
  service: "SERVICE",
  caller: "me",
  toolCallId: "1",
  toolName: "tool",
  requestHash: "hash",
  message: { topic: "t", messageId: "m", type: "type", source: "me", timestamp: 1, headers: {}, body: "" },
  state: RunState.Ready,
  isKept: true,
  waiters: [],
  createdAt: Date.now(),
  expiresAt: Date.now() + 60_000,
  attempt: 0,
  hasStarted: false,
};

const aFile = { name: "a.txt", isUntrusted: false, bytes: [Buffer.from("a")] };

/** What makes each store write every kind of key that it has. */
const uses: Readonly<Record<SharedState, (opened: OpenedState) => Promise<unknown>>> = {
  rates: async ({ rates }) => rates?.take([{ key: "bucket", amount: 10, perMs: 3_600_000, cost: 1 }]),
  blobs: async ({ blobs }) => blobs?.put("name", new Uint8Array([1]), { owner: "me", ttlMs: 60_000 }),
  files: async ({ files }) => files?.put("me", aFile),
  newFiles: async ({ files }) => files?.put("me", aFile),
  claims: async ({ claims }) =>
    (await claims?.())?.claim(
      { caller: "me", toolCallId: "1" },
      { owner: "here", requestHash: "hash", leaseMs: 60_000 },
    ),
  runs: async ({ runs }) => runs?.create(run),
  allRuns: async ({ runs }) => runs?.create(run), // what is read there
  leases: async ({ leases }) => {
    await leases?.hold("name", { owner: "here", leaseMs: 60_000 });
    await leases?.leaveNote("name", "here", { tag: "tag", text: "text" });
  },
  webhooks: async ({ webhookNotes }) => webhookNotes?.hold("webhook:used:1", { owner: "here", leaseMs: 60_000 }),
  trust: async ({ trustStore }) => trustStore?.write("approvals", {}, undefined),
  journals: async ({ journals }) => {
    await journals?.holdSlot("me", 0, { owner: "here", leaseMs: 60_000 });
    await journals?.writeAnswer("me", "1", new Uint8Array([1]));
    const record = {
      toolCallId: "1",
      toolName: "tool",
      caller: "me",
      state: CallState.Asked,
      attempts: 1,
      deadlineAt: Date.now() + 60_000,
      steps: [],
    };
    await journals?.write("me", [record]);
  },
  replays: async ({ replays }) => {
    const record = await replays?.open({ caller: "me", toolCallId: "1" }, "fresh");
    if (record !== undefined) await replays?.note(record, "0", "head", Buffer.alloc(600_000, 1));
  },
  figures: async ({ figureStore }) => figureStore?.keep("web", { at: 0, bytes: Buffer.alloc(20, 1) }),
  mcpSessions: async ({ mcpSessions }) => {
    await mcpSessions?.use("me", "1", { isNew: true, maxPerCaller: 1, idleMs: 60_000 });
    await mcpSessions?.cancel({ sessionId: "1", requestId: 1 });
  },
  schedules: async ({ schedules }) => {
    const running = {
      fireAt: 1,
      fireId: "1",
      replica: "here",
      takenAt: 1,
      takeovers: 0,
      message: "text",
      hasReadUntrusted: false,
    };
    const named = {
      key: "1",
      id: "1",
      caller: "me",
      sessionId: "session",
      name: "name",
      cron: "* * * * *",
      zone: "UTC",
      description: "text",
    };
    const task = { ...named, isOnce: false, hasReadUntrusted: false, createdAt: 1, nextAt: 1, running };
    await schedules?.write({
      key: "1",
      caller: "me",
      version: undefined,
      task,
      spend: { day: "2026-01-01", fires: 1, tokens: 1 },
    });
    await schedules?.look({ replica: "here", aliveMs: 60_000, limit: 1 });
  },
  memory: async ({ workingMemory }) =>
    workingMemory?.of("me").set("session/a/notes", "text", { category: "notes", tags: ["a"] }),
  owners: async ({ taskOwners }) => taskOwners?.of("owner").set("a2a-task/hash/owner", "agent"),
  summaries: async ({ summaryStore }) => summaryStore?.set("hash", "text"),
  pages: async ({ pageStore }) => pageStore?.set("key", new Uint8Array([1]), { ttlMs: 60_000 }),
  tasks: async ({ tasks }) => {
    const texts = { asked: "text", answer: "", earlier: [] };
    const facts = {
      id: "1",
      turnId: "1",
      contextId: "a",
      by: "me",
      messageId: "m",
      isUntrusted: false,
      createdAt: 1,
      updatedAt: 1,
    };
    await tasks?.write({ ...facts, standing: "working", ...texts }, undefined);
    await tasks?.write({ ...facts, id: "2", standing: "input-required", ...texts }, undefined);
  },
  turns: async ({ turnStore }) => {
    const session = { caller: "me", sessionId: "a" };
    const record = { nonce: "n", startedAt: 1, hasReadUntrusted: false, answers: [], results: new Map() };
    const taken = await turnStore?.take(session, {
      turnId: "1",
      owner: "here",
      leaseMs: 60_000,
      maxWaiting: 1,
      record,
    });
    await turnStore?.take(session, { turnId: "2", owner: "there", leaseMs: 60_000, maxWaiting: 1, record });
    const lease = { turnId: "1", owner: "here", fence: taken?.state === "taken" ? taken.fence : 0 };
    const usage = { inputTokens: 1, outputTokens: 1 };
    await turnStore?.addAnswer(session, lease, 0, { text: "text", toolCalls: [], finish: "stop", usage });
    await turnStore?.addEvents(session, "1", [{ at: "2026-01-01T00:00:00Z", kind: "turn_started" }], 0);
    await turnStore?.end(session, lease, { text: "text", finish: "stop", usage, hasReadUntrusted: false }, [
      { role: "user", content: "text", at: 1 },
    ]);
  },
};

test.each(Object.keys(uses) as SharedState[])(
  "what a service remembers as %s lies under the keys that the list of services names",
  async (kind) => {
    await using redis = await startOwnRedis();
    await using records = new SharedRecords({ redisUrl: redis.url, log: silentLogger });

    await uses[kind](await openState([kind], records));

    const keys = (await redis.ctl("keys", "*")).split("\n").filter(Boolean);
    expect(keys).not.toEqual([]);
    const { keys: own, adds = own }: { keys: string; adds?: string } = stateKinds[kind];
    expect(keys.filter((key) => !matchesGlob(key, own) && !matchesGlob(key, adds))).toEqual([]);
  },
);

test("a service reaches its own runs alone, and the gateway reads those of all", async () => {
  await using redis = await startOwnRedis();
  await using stores = new AsyncDisposableStack();
  const storeOf = async (name: "web-tools" | "agent" | "gateway") => {
    const rules = redisRules(serviceNamed(name)).split(" ");
    await redis.ctl("acl", "setuser", name, "on", ">secret", "resetchannels", "-@all", ...rules);
    const url = Object.assign(new URL(redis.url), { username: name, password: "secret" });
    return stores.use(await connectRedisRunStore(url.href));
  };
  const [webTools, agent, gateway] = [await storeOf("web-tools"), await storeOf("agent"), await storeOf("gateway")];
  const own = { ...run, service: "web-tools" };

  expect(await webTools.create(own)).toBe(true);
  expect((await webTools.due("web-tools", 1)).runs).toMatchObject([{ run: own }]);
  await expect(agent.read(own)).rejects.toThrow("NOPERM");
  await expect(agent.open("web-tools", 1)).rejects.toThrow("NOPERM");
  await expect(agent.create(own)).rejects.toThrow("NOPERM");
  const read = await gateway.read(own);
  expect(read?.run).toEqual(own);
  expect(await gateway.open("web-tools", 1)).toEqual([own]);
  await expect(gateway.create({ ...own, toolCallId: "2" })).rejects.toThrow("NOPERM");
  await expect(gateway.replace({ run: own, version: 1, now: 1 }, own)).rejects.toThrow("NOPERM");
});

test("a service leaves files for callers, reads those whose key it has, and can list nothing", async () => {
  await using redis = await startOwnRedis();
  await using stores = new AsyncDisposableStack();
  const urlOf = async (name: "scripts-manager" | "gateway") => {
    const rules = redisRules(serviceNamed(name)).split(" ");
    await redis.ctl("acl", "setuser", name, "on", ">secret", "resetchannels", "-@all", ...rules);
    return Object.assign(new URL(redis.url), { username: name, password: "secret" }).href as typeof redis.url;
  };
  const filesOf = async (name: "scripts-manager" | "gateway") =>
    await stores.use(new SharedRecords({ redisUrl: await urlOf(name), log: silentLogger })).files();
  const [service, gateway] = [await filesOf("scripts-manager"), await filesOf("gateway")];

  const left = await service?.put("ann", aFile);
  const { handle = "", key = "" } = (await gateway?.find("ann", left?.handle ?? "")) ?? {};
  expect(await gateway?.list("ann")).toEqual([left]);
  expect((await service?.open({ owner: "ann", handle, key }))?.facts).toMatchObject({ name: "a.txt" });
  await expect(service?.find("ann", handle)).rejects.toMatchObject({ code: "unavailable" });
  await expect(service?.list("ann")).rejects.toMatchObject({ code: "unavailable" });
  for (const listing of ["scan 0", "keys *", "randomkey", "dbsize", "zrange rockbot:{files}:lists:of:ann 0 -1"])
    expect(await redis.ctl("acl", "dryrun", "scripts-manager", ...listing.split(" "))).toMatch(/has no permissions/);
});
