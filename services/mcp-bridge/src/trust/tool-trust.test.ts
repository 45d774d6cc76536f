import { existsSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus } from "@rockbot/bus";
import { Header } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { StoreUnavailableError } from "@rockbot/records";
import { temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { createMemoryTrustStore, openFileTrustStore, type TrustStore } from "@rockbot/trust";
import { expect, test } from "vitest";
import { announcedTools, faulty, rawCaller, realServers, startTestBridge } from "../test-bridge.ts";

const policyOf = async (yaml: string) =>
  holdPolicy(createPolicy(await readPolicy(`everyone: { allow: ["*"] }\n${yaml}`, "of the test")));
const announced = (caller: Parameters<typeof announcedTools>[0]) =>
  expect.poll(() => announcedTools(caller), { timeout: 10_000 });
const limited = (...toolsAllowed: readonly string[]) => ({ ...faulty(), toolsAllowed });

test("a definition that changes by a byte is neither announced nor called until an operator approves it", async () => {
  await using tested = await startTestBridge(() => ({ peer: limited("echo", "redefine") }));
  const { bridge, caller, bus } = tested;
  const ask = rawCaller(bus);
  await announced(caller).toEqual(["peer__echo", "peer__redefine"]);
  await caller.call("peer__redefine", { tool: "echo", description: "The fault echo!" });
  await announced(caller).toEqual(["peer__redefine"]);
  const words = {
    code: "denied",
    isRetryable: false,
    message: expect.stringMatching(/^(?!.*rockbot mcp).*An operator has to approve it first/),
  };
  for (const [name, headers] of [
    ["peer__echo", {}],
    ["ECHO", {}],
    ["echo", { [Header.McpServer]: "Peer" }],
  ] as const)
    expect(await ask(name, headers)).toMatchObject(words);
  // Who knows only what is announced is told the same, and not that there is no such tool.
  await expect(caller.call("peer__echo", {})).rejects.toMatchObject({
    ...words,
    details: { mayHaveRun: false, reason: "not_approved" },
  });
  await using barred = await createToolCaller(bus, {
    agent: "barred",
    policy: await policyOf("callers: { barred: { allow: ['peer__redefine'] } }"),
  });
  await barred.discovered();
  await expect(barred.call("peer__echo", {})).rejects.toMatchObject({
    message: expect.not.stringContaining("approve"),
  });
  expect(bridge.servers).toMatchObject([{ name: "peer", tools: 1, held: 1 }]);

  const { tools } = await bridge.approvals.waiting();
  expect(tools).toMatchObject([
    {
      server: "peer",
      tool: "echo",
      reason: "changed",
      changes: ['description: was "The fault echo.", is "The fault echo!"'],
    },
  ]);
  await caller.call("peer__redefine", { tool: "echo", description: "Something else." });
  await expect
    .poll(async () => (await bridge.approvals.waiting()).tools[0]?.changes[0], { timeout: 10_000 })
    .toContain("Something else");
  expect(await bridge.approvals.approve({ tools, servers: [] }, "ada")).toEqual({
    approved: [],
    stale: ["peer: echo"],
  }); // not what was shown
  const shown = await bridge.approvals.waiting();
  expect(await bridge.approvals.approve({ tools: shown.tools, servers: [] }, "ada")).toEqual({
    approved: ["peer: echo"],
    stale: [],
  });
  expect(await ask("peer__echo", {})).toMatchObject({ content: "{}" });
  await announced(caller).toEqual(["peer__echo", "peer__redefine"]);
});

test("what comes later and what gets another name is held; a server whose pins are off offers all", async () => {
  await using tested = await startTestBridge(() => ({ strict: faulty(), lax: { ...faulty(), pin: "off" } }));
  const { bridge, caller } = tested;
  await caller.call("strict__redefine", { tool: "echo", name: "repeat" });
  for (const server of ["strict", "lax"]) await caller.call(`${server}__grow`, {});
  await expect
    .poll(() => announcedTools(caller).filter((name) => name.includes("grown")), { timeout: 10_000 })
    .toEqual([expect.stringMatching(/^lax__grown_/)]);
  await expect
    .poll(async () => (await bridge.approvals.waiting()).tools, { timeout: 10_000 })
    .toMatchObject([
      {
        server: "strict",
        tool: "repeat",
        reason: "renamed",
        renamedFrom: "echo",
        changes: ['name: was "echo", is "repeat"'],
      },
      { server: "strict", tool: expect.stringMatching(/^grown_/), reason: "new" },
    ]);
});

test("what is refused is answered so, and of a server that is taken out of the file, or was while no bridge ran, nothing waits", async () => {
  await using trustStore = createMemoryTrustStore();
  {
    await using tested = await startTestBridge(
      () => ({ peer: limited("echo", "redefine"), other: limited("echo", "redefine") }),
      { trustStore },
    );
    const { bridge, caller, bus, folder } = tested;
    for (const server of ["peer", "other"])
      await caller.call(`${server}__redefine`, { tool: "echo", description: "Else." });
    const waiting = async () => (await bridge.approvals.waiting()).tools;
    await expect.poll(async () => (await waiting()).length, { timeout: 10_000 }).toBe(2);
    const tools = (await waiting()).filter(({ server }) => server === "peer");
    expect(await bridge.approvals.reject({ tools, servers: [] }, "ada")).toEqual({ done: ["peer: echo"], stale: [] });
    expect(await rawCaller(bus)("peer__echo", {})).toMatchObject({
      code: "denied",
      message: expect.stringContaining("has refused"),
      details: { reason: "rejected" },
    });
    expect(bridge.servers).toMatchObject([
      { name: "peer", held: 0 },
      { name: "other", held: 1 },
    ]);
    folder.write("mcp.json", { mcpServers: { peer: limited("echo", "redefine") } });
    await expect.poll(async () => (await waiting()).length, { timeout: 10_000 }).toBe(0);
    await caller.call("peer__redefine", { tool: "echo", description: "Again else." });
    await expect.poll(async () => (await waiting()).length, { timeout: 10_000 }).toBe(1);
  }
  await using later = await startTestBridge(() => ({ third: limited("echo") }), { trustStore });
  await expect.poll(async () => (await later.bridge.approvals.waiting()).tools, { timeout: 10_000 }).toEqual([]);
});

test("nothing of the servers from npm looks poisoned", async () => {
  await using tested = await startTestBridge((folder) => ({
    everything: realServers.everything,
    memory: realServers.memory(join(folder, "memory.jsonl")),
    files: realServers.filesystem(folder),
    thinking: realServers.thinking,
  }));
  expect(await tested.bridge.approvals.waiting()).toMatchObject({ tools: [], servers: [] });
});

test("what was pinned holds after a restart, in a file that people can read", async () => {
  using folder = temporaryFolder();
  const mcpLockFile = join(folder.path, "mcp.lock.json");
  {
    await using first = await startTestBridge(() => ({ peer: limited("echo") }), { config: { mcpLockFile } });
    await announced(first.caller).toEqual(["peer__echo"]);
  }
  expect(existsSync(mcpLockFile)).toBe(true);
  await using second = await startTestBridge(() => ({ peer: limited("echo", "hang"), other: limited("echo") }), {
    config: { mcpLockFile },
  });
  await announced(second.caller).toEqual(["other__echo", "peer__echo"]);
});

test("in the mode file only what stands in the operator's file is offered, also beside a shared store", async () => {
  using folder = temporaryFolder();
  const mcpLockFile = join(folder.path, "mcp.lock.json");
  {
    await using _first = await startTestBridge(() => ({ peer: limited("echo") }), { config: { mcpLockFile } });
  }
  const config = { mcpLockFile, pin: "file" as const };
  await using alone = await startTestBridge(() => ({ peer: faulty(), other: limited("echo") }), { config });
  await announced(alone.caller).toEqual(["peer__echo"]);
  await using shared = await startTestBridge(() => ({ peer: faulty(), other: limited("echo") }), {
    config,
    trustStore: createMemoryTrustStore(),
  });
  await announced(shared.caller).toEqual(["peer__echo"]);
});

test("two bridges that share a store hold the same, and what is approved at one is offered by the other", async () => {
  using folder = temporaryFolder();
  await using trustStore = openFileTrustStore(join(folder.path, "shared.json"));
  await using one = await startTestBridge(() => ({ peer: limited("echo") }), { trustStore });
  await using two = await startTestBridge(() => ({ peer: limited("echo", "hang") }), { trustStore });
  await announced(two.caller).toEqual(["peer__echo"]);
  const { tools } = await one.bridge.approvals.waiting();
  await one.bridge.approvals.approve({ tools, servers: [] }, "ada");
  await announced(two.caller).toEqual(["peer__echo", "peer__hang"]);
});

test("while it cannot be read what is approved nothing is offered, and a call is answered so", async () => {
  const real = createMemoryTrustStore();
  let isAway = true;
  const read: TrustStore["read"] = async (name) => {
    if (isAway) throw new StoreUnavailableError("Redis is away");
    return real.read(name);
  };
  await using tested = await startTestBridge(() => ({ peer: limited("echo") }), { trustStore: { ...real, read } });
  expect(announcedTools(tested.caller)).toEqual([]);
  const ask = rawCaller(tested.bus);
  for (const [name, headers] of [
    ["echo", { [Header.McpServer]: "peer" }],
    ["peer__echo", {}], // as another replica, which could read what is approved, has announced it
  ] as const)
    expect(await ask(name, headers)).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("approved"),
    });
  isAway = false;
  await announced(tested.caller).toEqual(["peer__echo"]);
});

test.each([
  ["read what is approved", {}, { read: () => Promise.reject(new StoreUnavailableError("Redis is away")) }],
  ["start one of its servers", { peer: { command: "no-such-program" } }, {}],
])(
  "a replica that cannot %s hides no tool of another one, and its own list counts once that one is gone",
  async (_, broken, store) => {
    await using bus = createMemoryBus();
    const heard: string[] = [];
    const hear = async ({ type }: { readonly type: string }) => void heard.push(type);
    await using _ears = await bus.subscribe({ name: "ears", topics: ["tool.announce.mcp-bridge"], kind: "copy" }, hear);
    const servers = () => ({ peer: limited("echo"), open: { ...limited("echo"), pin: "off" } });
    await using one = await startTestBridge(servers, { bus });
    await announced(one.caller).toEqual(["open__echo", "peer__echo"]);
    await using two = await startTestBridge(() => ({ ...servers(), ...broken }), {
      bus,
      trustStore: { ...createMemoryTrustStore(), ...store },
    });
    expect(two.bridge.servers.map(({ tools }) => tools).sort()).toEqual([0, 1]);

    const before = heard.length; // from here on both have announced what they have, and each beats once a second
    await expect.poll(() => heard.length, { timeout: 20_000 }).toBeGreaterThan(before + 5);
    await one.caller.discovered();
    expect([announcedTools(one.caller), announcedTools(two.caller)]).toEqual([
      ["open__echo", "peer__echo"],
      ["open__echo", "peer__echo"],
    ]);
    await one.bridge[Symbol.asyncDispose]();
    await announced(two.caller).toEqual(["open__echo"]);
  },
);
