import { readFileSync } from "node:fs";
import { join } from "node:path";
import { faultServer, isProcessAlive, startRawHttpServer, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import type { McpServer } from "./mcp-server.ts";
import { callTool, startServer, testEnv, until, when } from "./test-servers.ts";

const watch = { lookMs: 50, quietMs: 200, idleMs: 400, answerMs: 300, busyMs: 60_000 };
const linux = test.runIf(process.platform === "linux");

/** A server whose starts are noted, and which is looked at often. */
async function startWatched(folder: string, times: Partial<typeof watch> = {}) {
  const pidsFile = join(folder, "pids");
  const address = { type: "stdio", env: { ...testEnv, PIDS_FILE: pidsFile }, ...faultServer() } as const;
  const server = startServer(address, {}, { watch: { ...watch, ...times } });
  await until(server, "ready");
  return { server, pids: () => readFileSync(pidsFile, "utf8").trim().split("\n").map(Number) };
}

/** Each state that a server gets into. */
function statesOf(server: McpServer): string[] {
  const states: string[] = [];
  server.onChange(() => void states.push(server.health.state));
  return states;
}

linux("a server that stands still is noticed without a call, and started anew", async () => {
  using folder = temporaryFolder();
  const { server, pids } = await startWatched(folder.path);
  await using _ = server;
  const [first = 0] = pids();
  process.kill(first, "SIGSTOP");
  await when(server, () => server.health.failures === 1);
  expect(server.health.lastFailure).toContain("answers neither a ping nor a question for its tools");
  expect(await callTool(server, "echo", { n: 1 })).toMatchObject({ content: '{"n":1}' });
  expect(pids()).toHaveLength(2);
  await expect.poll(() => isProcessAlive(first), { timeout: 10_000 }).toBe(false);
});

linux("a call of a server that stands still ends long before its time, and the next is answered", async () => {
  using folder = temporaryFolder();
  const { server, pids } = await startWatched(folder.path, { idleMs: 60_000 });
  await using _ = server;
  const call = callTool(server, "hang", {}, { timeoutMs: 60_000 });
  process.kill(pids()[0] ?? 0, "SIGSTOP");
  await expect(call).rejects.toMatchObject({ code: "outcome_unknown", details: { mayHaveRun: true } });
  expect(await callTool(server, "echo", { n: 2 })).toMatchObject({ content: '{"n":2}' });
});

test.each([
  ["computes", false],
  ["sleeps", true],
])(
  "a server that %s for a call and answers nothing else is busy: it is left alone, and who calls meanwhile is answered after it",
  async (_, isAsleep) => {
    using folder = temporaryFolder();
    const { server, pids } = await startWatched(folder.path);
    await using _server = server;
    const states = statesOf(server);
    const call = callTool(server, "block", { ms: 2_000, isAsleep });
    await until(server, "busy");
    const meanwhile = server.callTool(
      server.tools[0] as never,
      { n: 3 },
      { timeoutMs: 15_000, signal: new AbortController().signal, onProgress: () => {} },
    );
    expect(await call).toMatchObject({ content: "unblocked" });
    expect(await meanwhile).toMatchObject({ content: '{"n":3}' });
    await until(server, "ready");
    expect([pids().length, server.health.failures, states.filter((state) => state === "failing")]).toEqual([1, 0, []]);
  },
);

linux(
  "a server that goes on computing when its call has had its time is busy still; one that does nothing is started anew",
  async () => {
    using folder = temporaryFolder();
    const { server, pids } = await startWatched(folder.path);
    await using _ = server;
    await expect(callTool(server, "block", { ms: 3_000 }, { timeoutMs: 100 })).rejects.toMatchObject({
      code: "timeout",
    });
    await until(server, "busy");
    await until(server, "ready");
    expect(pids()).toHaveLength(1);
    await expect(callTool(server, "block", { ms: 60_000, isAsleep: true }, { timeoutMs: 100 })).rejects.toMatchObject({
      code: "timeout",
    });
    await when(server, () => pids().length === 2);
    expect(await callTool(server, "echo", { n: 4 })).toMatchObject({ content: '{"n":4}' });
  },
);

linux("a program that computes without end is busy for a time, and is then started anew", async () => {
  using folder = temporaryFolder();
  const { server, pids } = await startWatched(folder.path, { busyMs: 1_500 });
  await using _ = server;
  await expect(callTool(server, "block", { ms: 600_000 }, { timeoutMs: 100 })).rejects.toMatchObject({
    code: "timeout",
  });
  await until(server, "busy");
  await when(server, () => pids().length === 2);
});

test.each(["older", "newer"] as const)("a server of the %s era that is gone is noticed without a call", async (era) => {
  const peer = await startRawHttpServer({ era, tools: [{ name: "act", inputSchema: { type: "object" } }] });
  await using server = startServer({ type: "http", url: peer.url, headers: {} }, {}, { watch, backOffMs: [60_000] });
  await until(server, "ready");
  await expect
    .poll(() => (peer.requests.get("ping") ?? 0) + (peer.requests.get("server/discover") ?? 0), { timeout: 10_000 })
    .toBeGreaterThan(1);
  expect(server.health.failures).toBe(0);
  await peer[Symbol.asyncDispose]();
  await until(server, "failing");
});
