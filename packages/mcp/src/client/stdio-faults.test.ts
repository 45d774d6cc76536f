import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { canRunAs, type FaultServerBehaviour, faultServer, isProcessAlive } from "@rockbot/testing";
import { expect, test } from "vitest";
import type { McpTool } from "./server-options.ts";
import { callTool, startServer, testEnv, until, when } from "./test-servers.ts";

const address = (...behaviours: readonly FaultServerBehaviour[]) =>
  ({ type: "stdio", env: testEnv, ...faultServer(...behaviours) }) as const;

test.each([["crash"], ["segfault"]])(
  "a server that ends in the middle of a call (%s): the outcome is unknown, it is not called again, and it comes back",
  async (fault) => {
    await using server = startServer(address());
    await expect(callTool(server, fault)).rejects.toMatchObject({
      code: "outcome_unknown",
      isRetryable: false,
      details: { mayHaveRun: true },
    });
    expect(await callTool(server, "echo", { again: true })).toMatchObject({ content: '{"again":true}' });
  },
);

test.each([["hang"], ["wrong_id"]])(
  "a call that gets no answer (%s) ends at its time, the server is told, and others are answered",
  async (fault) => {
    await using server = startServer(address());
    await expect(callTool(server, fault, {}, { timeoutMs: 300 })).rejects.toMatchObject({
      code: "timeout",
      details: { mayHaveRun: true },
    });
    expect((await callTool(server, "cancelled")).content).toMatch(/^\[\d+\]$/);
    expect(server.health).toMatchObject({ state: "ready", failures: 0 });
  },
);

test("garbage between messages is passed over, and a second answer goes nowhere", async () => {
  await using server = startServer(address());
  expect(await callTool(server, "garbage")).toMatchObject({ content: "after the garbage" });
  expect(await callTool(server, "twice")).toMatchObject({ content: "first" });
  expect(await callTool(server, "echo", { n: 1 })).toMatchObject({ content: '{"n":1}' });
});

test("an answer of 11 MiB in a line ends its call as too large, at once, and no other", async () => {
  await using server = startServer(address());
  const large = callTool(server, "long_line");
  const small = callTool(server, "echo", { n: 2 });
  await expect(large).rejects.toMatchObject({ code: "too_large", details: { mayHaveRun: true } });
  expect(await small).toMatchObject({ content: '{"n":2}' });
});

test("a server that floods does not keep another one from answering", async () => {
  await using flooding = startServer(address());
  await using calm = startServer(address());
  const drowned = callTool(flooding, "flood", {}, { timeoutMs: 2_000 }).catch((error: unknown) => error);
  for (let i = 0; i < 50; i++) expect(await callTool(calm, "echo", { i })).toMatchObject({ content: `{"i":${i}}` });
  expect(await drowned).toMatchObject({ code: "timeout" });
});

test("a cancelled call is cancelled at the server", async () => {
  await using server = startServer(address());
  const cancel = new AbortController();
  const reason = new Error("not wanted any more");
  const call = callTool(server, "hang", {}, { signal: cancel.signal });
  await callTool(server, "echo"); // by then the other has been sent
  cancel.abort(reason);
  await expect(call).rejects.toBe(reason);
  expect((await callTool(server, "cancelled")).content).toMatch(/^\[\d+\]$/);
});

test("tools that come while it runs are listed", async () => {
  await using server = startServer(address());
  await callTool(server, "grow");
  await when(server, () => server.tools.some(({ name }) => name.startsWith("grown_")));
});

test("an old server that ends when it is asked for the newer era is started once more and not asked", async () => {
  await using server = startServer(address("exit-on-probe"));
  expect(await callTool(server, "echo")).toMatchObject({ content: "{}" });
  expect(server.health).toMatchObject({ failures: 0, protocolVersion: "2025-11-25" });
});

test("a server that does not start is tried again, ever more slowly; calls are refused at once, and the operator learns why", async () => {
  await using server = startServer(
    address("exit-at-start"),
    { secrets: ["canary-in-stderr"] },
    { backOffMs: [0, 5, 10, 20, 60_000] },
  );
  await until(server, "broken");
  const call = server.callTool(
    {
      name: "echo",
      description: "",
      inputSchema: {},
      annotations: { readOnly: false, idempotent: false, destructive: true, openWorld: true },
    },
    {},
    { timeoutMs: 15_000, signal: new AbortController().signal, onProgress: () => {} },
  );
  await expect(call).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: true,
    retryAfterMs: expect.any(Number),
    details: { mayHaveRun: false },
  });
  expect(server.health.failures).toBeGreaterThanOrEqual(5);
  expect(server.health.lastFailure).toContain("it ended with exit code 2");
  expect(server.health.lastFailure).toContain("fault server: refusing to start");
  expect(server.health.lastFailure).not.toContain("canary");
});

test.each([
  ["a command", { command: "no-such-program" }, 'the command "no-such-program" is not found on PATH'],
  ["a program", { command: "/nowhere/program" }, 'the program "/nowhere/program" does not exist'],
  ["a folder", { command: process.execPath, cwd: "/nowhere" }, 'the folder "/nowhere" of its "cwd" does not exist'],
])("%s that does not exist is named, once", async (_, given, words) => {
  const missing = { type: "stdio", args: [], env: testEnv, ...given } as const;
  await using server = startServer(missing, {}, { backOffMs: [60_000] });
  await until(server, "failing");
  expect(server.health.lastFailure).toBe(`it cannot be connected: ${words} (ENOENT)`);
});

test("a server that says nothing is given up after the time to connect", async () => {
  await using server = startServer(address("silent"), { connectTimeoutMs: 300 }, { backOffMs: [60_000] });
  await until(server, "failing");
  expect(server.health.lastFailure).toMatch(/cannot be connected/);
});

test("with a server go all that it started, also who has left its process group and who heeds nobody", async () => {
  const pids: number[] = [];
  {
    await using server = startServer(address("heedless"));
    pids.push(
      Number((await callTool(server, "grandchild")).content),
      Number((await callTool(server, "escaped")).content),
    );
    expect(pids.map(isProcessAlive)).toEqual([true, true]);
  }
  await expect.poll(() => pids.map(isProcessAlive), { timeout: 5_000 }).toEqual([false, false]); // gone, and reaped by whoever has inherited them
});

test("what a server started is gone also after it has crashed", async () => {
  await using server = startServer(address());
  const pid = Number((await callTool(server, "escaped")).content);
  await callTool(server, "crash").catch(() => {});
  await expect.poll(() => isProcessAlive(pid), { timeout: 5_000 }).toBe(false);
});

test("a server sees of our environment nothing but what is its own", async () => {
  process.env["CANARY_SECRET"] = "canary";
  await using server = startServer({ ...address(), env: { ...testEnv, OWN: "yes" } });
  const environment = JSON.parse((await callTool(server, "environment")).content ?? "{}") as Record<string, string>;
  delete process.env["CANARY_SECRET"];
  expect(Object.keys(environment).sort()).toEqual(["OWN", "PATH", "ROCKBOT_MCP_PROCESS"]);
});

test("a full queue refuses more calls, and says when to come back", async () => {
  await using server = startServer(address(), { queue: { concurrency: 1, waiting: 1 } });
  const first = callTool(server, "hang", {}, { timeoutMs: 500 }).catch(() => {});
  await until(server, "ready");
  const second = callTool(server, "echo", { n: 2 });
  await expect(callTool(server, "echo")).rejects.toMatchObject({
    code: "overloaded",
    retryAfterMs: expect.any(Number),
  });
  await first;
  expect(await second).toMatchObject({ content: '{"n":2}' });
});

test("only allowed tools are listed, and what is denied is not, in whatever case", async () => {
  await using server = startServer(address(), { allowed: ["e*", "GROW"], denied: ["*SCAPE?"] });
  await until(server, "ready");
  expect(server.tools.map(({ name }) => name).sort()).toEqual(["echo", "environment", "grow"]);
});

test("a server that is looked at again while it starts is left alone afterwards", async () => {
  await using server = startServer(address());
  await server.refresh();
  await until(server, "ready");
  expect(await callTool(server, "echo")).toMatchObject({ content: "{}" });
});

test.each([
  [true, { content: "the second time" }],
  [false, { code: "outcome_unknown" }],
])(
  "a call that the server was lost over is made once more if its tool may be repeated and the server is trusted with that: %s",
  async (trustsAnnotations, outcome) => {
    const folder = mkdtempSync(join(tmpdir(), "rockbot-mcp-"));
    await using server = startServer(address(), { trustsAnnotations });
    const call = callTool(server, "crash_once", { file: join(folder, "crashed") }).catch((error: unknown) => error);
    expect(await call).toMatchObject(outcome);
    rmSync(folder, { recursive: true });
  },
);

test("a server is ready once what its screen was asked last is decided", async () => {
  const decisions: (() => void)[] = [];
  const screen = (tools: readonly McpTool[]) =>
    new Promise<readonly McpTool[]>((resolve) => decisions.push(() => resolve(tools)));
  await using server = startServer(address(), {}, { screen });
  await expect.poll(() => decisions.length, { timeout: 20_000 }).toBe(1);
  void server.screenAgain();
  expect(decisions).toHaveLength(2);
  decisions[0]?.();
  await new Promise((resolve) => setImmediate(resolve));
  expect(server.health).toMatchObject({ state: "connecting", tools: 0 });
  decisions[1]?.();
  await until(server, "ready");
  expect(server.tools.map(({ name }) => name)).toContain("echo");
});

test("a call that waits for a server to come back is not sent if its tool does not pass the screen any more", async () => {
  let isApproved = true;
  const refusal = new ToolError(ToolErrorCode.Denied, "not approved");
  const screen = async (tools: readonly McpTool[]) =>
    isApproved ? tools : tools.filter(({ name }) => name !== "echo");
  await using server = startServer(address(), {}, { screen, refusal: () => refusal, backOffMs: [0, 200] });
  await until(server, "ready");
  const tool = server.tools.find(({ name }) => name === "echo") as McpTool;
  isApproved = false;
  await callTool(server, "crash").catch(() => {});
  await until(server, "failing", "connecting");
  const call = server.callTool(
    tool,
    {},
    { timeoutMs: 15_000, signal: new AbortController().signal, onProgress: () => {} },
  );
  await expect(call).rejects.toBe(refusal);
});

test("a call that may be repeated is made twice at most", async () => {
  await using server = startServer(address(), { trustsAnnotations: true });
  await until(server, "ready");
  const repeatable = {
    name: "crash",
    description: "",
    inputSchema: {},
    annotations: { readOnly: true, idempotent: true, destructive: false, openWorld: false },
  };
  const options = { timeoutMs: 15_000, signal: new AbortController().signal, onProgress: () => {} };
  await expect(server.callTool(repeatable, {}, options)).rejects.toMatchObject({ code: "outcome_unknown" });
  expect(server.health.failures).toBe(2);
});

test.runIf(canRunAs(12_345))(
  "a program runs as the user and in the folder that it is given, in no other group",
  async () => {
    await using server = startServer({ ...address(), uid: 12_345, cwd: "/" });
    expect(JSON.parse((await callTool(server, "whoami")).content ?? "")).toEqual({
      uid: 12_345,
      gid: 12_345,
      groups: [12_345],
      cwd: "/",
    });
  },
); // only root may start a program as somebody else, who must be able to read it

test.runIf(canRunAs(12_345))("one who is not root may name the own user for a program, which keeps its group", () => {
  const tree = new URL("./stdio/process-tree.ts", import.meta.url).href;
  const script = `
    const { startProcessTree } = await import(${JSON.stringify(tree)});
    const args = ["-e", "process.stdout.write(process.getuid() + ' ' + process.getgid())"];
    startProcessTree({ type: "stdio", command: process.execPath, args, env: {}, uid: process.getuid() }).child.stdout.pipe(process.stdout);`;
  const as = process.getuid?.() === 0 ? { uid: 12_345, gid: 54_321, cwd: "/" } : {};
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { ...as, encoding: "utf8" });
  expect(stdout).toBe(process.getuid?.() === 0 ? "12345 54321" : `${process.getuid?.()} ${process.getgid?.()}`);
}); // root becomes somebody else for it, who must be able to read it

test("where a program cannot be started as another user, this is said in words", async () => {
  const getuid = process.getuid;
  process.getuid = () => 4_711;
  try {
    await using server = startServer({ ...address(), uid: 12_345 }, {}, { backOffMs: [60_000] });
    await until(server, "failing");
    expect(server.health.lastFailure).toContain(
      "it is to run as the user 12345, which only a bridge that runs as root can do",
    );
  } finally {
    process.getuid = getuid as () => number;
  }
});

test.runIf(process.platform === "linux")(
  "a program that uses more memory than it may is ended, with its call, and comes back",
  async () => {
    await using server = startServer({ ...address(), memoryMib: 250 });
    await expect(callTool(server, "gorge", { mib: 300 })).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(server.health.lastFailure).toMatch(/it was ended as it used \d+ MiB of memory, more than the 250 it may/);
    expect(await callTool(server, "echo")).toMatchObject({ content: "{}" });
  },
); // elsewhere the limit is refused

test("of a program less is read if its limit says so", async () => {
  await using server = startServer({ ...address(), maxMessageBytes: 1024 * 1024 });
  await expect(callTool(server, "echo", { text: "x".repeat(1024 * 1024) })).rejects.toMatchObject({
    code: "too_large",
  });
  expect(await callTool(server, "echo")).toMatchObject({ content: "{}" });
});
