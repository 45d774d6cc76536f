import { generateKeyPairSync } from "node:crypto";
import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { saidBy, type ToolDefinition, type Validator } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { createMemoryFileStore } from "@rockbot/records/files";
import { openSqliteRunStore } from "@rockbot/runs";
import { openLocalMaker, pooledRunner } from "@rockbot/sandbox";
import { configSchema, type ScriptsManagerConfig, startScriptsManager } from "@rockbot/scripts-manager";
import { missingNamespaces } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools, type ToolCallContext } from "@rockbot/tools";
import { describe, expect, test, vi } from "vitest";

const TOOL = "execute_python_script";
const NAMED = { service: "scripts-manager", topic: "script.invoke" };
const { publicKey: operatorKey } = generateKeyPairSync("ed25519");
const POLICY = `everyone: { allow: ['*'], scripts: { allow: [note, page, held] } }
callers: { eve: { limits: { scriptSecondsPerHour: 60 } } }
operators: [{ name: ann, tokens: [{ hash: "sha256:${"a".repeat(64)}" }], may: [read, decide] }]
approve: [{ tools: [held], by: [ann] }]`;
const skipped = missingNamespaces();

function textTool(name: string, run: (text: string, context: ToolCallContext) => ReturnType<typeof answer>) {
  const definition: ToolDefinition<{ text: string }> = {
    name,
    description: `Does ${name}, for tests.`,
    inputSchema: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
    readOnly: true,
    idempotent: true,
    validateInput: ((value: unknown) => typeof value === "object") as Validator<{ text: string }>,
  };
  return defineTool(definition, async ({ text }, context) => run(text, context));
}

const answer = (content: string, isForeign = false) =>
  isForeign ? { content, trust: saidBy("https://page.test/") } : { content };

// Long because: it is the list of the parts, in the order in which they start
/** A manager with sandboxes of this machine, a service with tools, and callers. */
async function start(settings: Partial<ScriptsManagerConfig> = {}) {
  await using stack = new AsyncDisposableStack();
  const config = loadConfig(configSchema, { env: {}, overrides: { sandboxFloor: 0, ...settings } });
  const bus = stack.use(createMemoryBus());
  let current = createPolicy(await readPolicy(POLICY, "test"));
  const policy = { ...holdPolicy(current), current: () => current };
  const { files } = stack.use(createMemoryFileStore());
  const noted: { readonly text: string; readonly context: ToolCallContext }[] = [];
  const tools = [
    textTool("note", (text, context) => {
      noted.push({ text, context });
      return answer(`noted ${text}`);
    }),
    textTool("page", (text) => answer(`page ${text}`, true)),
    textTool("held", (text) => answer(`held ${text}`)),
  ];
  const waiting = stack.use(await openSqliteRunStore(undefined));
  const notes = { service: "notes", topic: "tool.invoke", policy, runs: waiting, operatorKey };
  stack.use(await serveTools(bus, { tools, guides: [] }, notes));
  const maker = await openLocalMaker({ log: silentLogger });
  const pool = { floor: 0, ceiling: config.sandboxCeiling + config.maxSessions, idleMs: 60_000, keepBytes: 20_000 };
  const runner = stack.use(pooledRunner(maker, { ...pool, log: silentLogger }));
  const runs = stack.use(await openSqliteRunStore(undefined));
  const manager = stack.use(await startScriptsManager(bus, config, { ...NAMED, runner, policy, runs, files }));
  const opened = stack.move();
  async function callerOf(agent: string) {
    const caller = opened.use(await createToolCaller(bus, { agent, files }));
    await caller.discovered();
    const call = async (name: string, args: object, options: Parameters<typeof caller.call>[2] = {}) =>
      await caller.call(name, args, options);
    return {
      call,
      run: async (
        session: string,
        script: string,
        more: object = {},
        options: Parameters<typeof caller.call>[2] = {},
      ) => await call(TOOL, { script, session, ...more }, options),
      sessions: async () => (await call("list_script_sessions", {})).structured?.["sessions"],
    };
  }
  const changePolicy = async (yaml: string): Promise<void> => {
    current = createPolicy(await readPolicy(yaml, "test"));
  };
  return { manager, noted, files, waiting, callerOf, changePolicy, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

describe.runIf(skipped === undefined)("a session", { timeout: 60_000 }, () => {
  test("keeps variables from cell to cell, and says with which it began", async () => {
    await using scene = await start();
    const ada = await scene.callerOf("ada");
    const first = await ada.run("s1", "x = 41\nprint('there')");
    expect(first).toMatchObject({
      content: 'there\n\n\n[The session "s1" began with this cell.]',
      isError: false,
      structured: { stdout: "there\n", exit_code: 0, session: { name: "s1", cell: 1, is_new: true, is_over: false } },
    });
    const second = await ada.run("s1", "print(x + 1)");
    expect(second).toMatchObject({ content: "42\n", structured: { session: { cell: 2, is_new: false } } });
    const third = await ada.run("s1", "x + 2");
    expect(third).toMatchObject({ content: "(no output)", structured: { value: { type: "int", text: "43" } } });
    expect((await ada.call(TOOL, { script: "print('x' in globals())" })).structured).toMatchObject({
      stdout: "False\n",
    });
    expect((await ada.call(TOOL, { script: "print(1)" })).structured).not.toHaveProperty("session");
  });

  test("belongs to its caller alone, whatever its name", async () => {
    await using scene = await start();
    const [ada, bob] = [await scene.callerOf("ada"), await scene.callerOf("bob")];
    await ada.run("s1", "secret = 7");
    expect((await bob.run("s1", "print('secret' in globals())")).structured).toMatchObject({
      stdout: "False\n",
      session: { is_new: true },
    });
    await ada.run("only-ada", "1");
    expect(await bob.sessions()).toMatchObject([{ session: "s1", cells: 1 }]);
    await expect(bob.call("end_script_session", { session: "only-ada" })).rejects.toMatchObject({
      details: { reason: "no_session" },
    });
    expect(await ada.sessions()).toMatchObject([{ session: "s1" }, { session: "only-ada" }]);
  });

  test("goes on after a failure and after a cell whose time was over, both in words", async () => {
    await using scene = await start();
    const ada = await scene.callerOf("ada");
    const failed = await ada.run("s1", "x = 1\nx / 0");
    expect(failed).toMatchObject({ isError: true, structured: { exit_code: 1, session: { is_over: false } } });
    expect(failed.content).toContain("The cell failed with exit code 1");
    expect(failed.content).toContain('File "<cell 1>", line 2');
    const late = await ada.run("s1", "while True: pass", { timeout_seconds: 1 });
    expect(late).toMatchObject({ isError: true, structured: { limit: "time", session: { cell: 2, is_over: false } } });
    expect(late.content).toContain("The cell timed out after 1 s");
    expect((await ada.run("s1", "print(x)")).content).toBe("1\n");
  });

  test("that is over says so to each later cell, with its last cells, until its caller ends it", async () => {
    await using scene = await start();
    const ada = await scene.callerOf("ada");
    await ada.run("s1", "# one\nx = 1");
    const left = await ada.run("s1", "\nexit(3)");
    expect(left).toMatchObject({ isError: true, structured: { exit_code: 3, session: { is_over: true } } });
    expect(left.content).toContain('[The session "s1" ended with this cell.');
    for (let again = 0; again < 2; again++)
      await expect(ada.run("s1", "print(x)")).rejects.toMatchObject({
        code: "execution_failed",
        details: { reason: "session_gone" },
        message: expect.stringMatching(/its cell 2 ended the interpreter with exit code 3.*1: # one \| 2: exit\(3\)/s),
      });
    expect(await ada.sessions()).toMatchObject([{ session: "s1", state: "over", cells: 2 }]);
    expect((await ada.call("end_script_session", { session: "s1" })).structured).toEqual({
      session: "s1",
      cells: 2,
      was_over: true,
    });
    expect((await ada.run("s1", "print('x' in globals())")).structured).toMatchObject({
      stdout: "False\n",
      session: { is_new: true },
    });
  });

  test("ends with a cell that uses up its memory", async () => {
    await using scene = await start();
    const ada = await scene.callerOf("ada");
    const grown = await ada.run(
      "s1",
      "import time\nheld = []\nwhile True: held.append(b'x' * (1 << 23)); time.sleep(0.01)",
    );
    expect(grown).toMatchObject({ isError: true, structured: { limit: "memory", session: { is_over: true } } });
    await expect(ada.run("s1", "print(1)")).rejects.toMatchObject({
      message: expect.stringContaining("its cell 1 used more memory than it may"),
    });
  });

  test("ends when nobody uses it, and when its time is over", async () => {
    await using scene = await start({ sessionIdleSeconds: 1, sessionSeconds: 300 });
    const ada = await scene.callerOf("ada");
    await ada.run("s1", "x = 1");
    await vi.waitFor(async () => expect(await ada.sessions()).toMatchObject([{ state: "over" }]), { timeout: 20_000 });
    await expect(ada.run("s1", "x")).rejects.toMatchObject({
      message: expect.stringContaining("nobody used it for 1 s"),
    });

    await using short = await start({ sessionSeconds: 3 });
    const eve = await short.callerOf("eve");
    await expect(eve.run("s1", "import time\nwhile True: time.sleep(0.1)")).rejects.toMatchObject({
      message: expect.stringContaining("its 3 s were over"),
    });
  });

  test("is refused beyond what a caller may have, and beyond what all may have, with what to do", async () => {
    await using scene = await start({ maxSessions: 3 });
    const [ada, bob] = [await scene.callerOf("ada"), await scene.callerOf("bob")];
    await ada.run("a", "1");
    await ada.run("b", "1");
    await expect(ada.run("c", "1")).rejects.toMatchObject({
      code: "rate_limited",
      message: expect.stringMatching(/"a" and "b".*end_script_session/),
    });
    await bob.run("a", "1");
    await expect(bob.run("b", "1")).rejects.toMatchObject({ code: "overloaded", details: { reason: "session_room" } });
    await ada.call("end_script_session", { session: "a" });
    expect((await bob.run("b", "print(2)")).structured).toMatchObject({ stdout: "2\n" });
  });

  test("runs one cell at a time, stops one that is cancelled, and ends while one runs", async () => {
    await using scene = await start();
    const ada = await scene.callerOf("ada");
    await ada.run("s1", "n = 0");
    const cancel = new AbortController();
    const begun = Promise.withResolvers<void>();
    const onProgress = ({ message }: { message?: string | undefined }): void =>
      void (message?.includes("BEGUN") && begun.resolve());
    const loop = "import time\nprint('BEGUN')\nwhile True: time.sleep(0.05); n += 1";
    const running = ada.run("s1", loop, {}, { signal: cancel.signal, onProgress });
    running.catch(() => {});
    await begun.promise;
    await expect(ada.run("s1", "print(n)")).rejects.toMatchObject({ details: { reason: "session_busy" } });
    cancel.abort();
    await expect(running).rejects.toMatchObject({ code: "cancelled" });
    await vi.waitFor(async () => expect((await ada.run("s1", "print(n >= 0)")).content).toBe("True\n"), {
      timeout: 10_000,
    });

    const again = Promise.withResolvers<void>();
    const ended = ada.run(
      "s1",
      loop,
      {},
      { onProgress: ({ message }) => void (message?.includes("BEGUN") && again.resolve()) },
    );
    ended.catch(() => {});
    await again.promise;
    expect((await ada.call("end_script_session", { session: "s1" })).structured).toMatchObject({ was_over: false });
    await expect(ended).rejects.toMatchObject({
      message: expect.stringMatching(/^The cell was ended while it ran: .*its caller has ended it/),
      details: { reason: "session_gone", mayHaveRun: true },
    });
    expect(await ada.sessions()).toEqual([]);
  });

  test("takes of its caller's script seconds what a cancelled cell has used, and no more", async () => {
    await using scene = await start();
    const eve = await scene.callerOf("eve");
    const cancel = new AbortController();
    const onProgress = ({ message }: { message?: string | undefined }): void =>
      void (message?.includes("BEGUN") && cancel.abort());
    const script = "import time\nprint('BEGUN')\nwhile True: time.sleep(0.05)";
    const running = eve.run("s1", script, { timeout_seconds: 50 }, { signal: cancel.signal, onProgress });
    await expect(running).rejects.toMatchObject({ code: "cancelled" });
    await vi.waitFor(
      async () => expect((await eve.run("s1", "print(1)", { timeout_seconds: 50 })).content).toBe("1\n"),
      {
        timeout: 10_000,
      },
    );
  });

  test("runs a cell once, however often its call is made", async () => {
    await using scene = await start();
    const ada = await scene.callerOf("ada");
    await ada.run("s1", "n = 0");
    const toolCallId = "cell-1";
    const all = await Promise.all([1, 2].map(() => ada.run("s1", "n += 1\nprint(n)", {}, { toolCallId })));
    expect(all.map(({ content }) => content)).toEqual(["1\n", "1\n"]);
    expect((await ada.run("s1", "print(n)")).content).toBe("1\n");
  });

  test("calls tools, and carries the mark of an untrusted answer to all its later cells", async () => {
    await using scene = await start();
    const ada = await scene.callerOf("ada");
    const clean = await ada.run("s1", "from rockbot import tools\nprint(tools.note(text='before'))");
    expect([clean.content?.split("\n")[0], clean.trust ?? undefined]).toEqual(["noted before", undefined]);
    const read = await ada.run("s1", "text = tools.page(text='a')\nprint(text)");
    expect(read).toMatchObject({ content: "page a\n", trust: { level: "untrusted", origin: "https://page.test/" } });
    const later = await ada.run("s1", "print(tools.note(text='after'))\nopen('out/f.txt', 'w').write(text)");
    expect(later).toMatchObject({ trust: { level: "untrusted" }, structured: { files: [{ name: "f.txt" }] } });
    const [left] = (later.structured?.["files"] ?? []) as { handle: string }[];
    expect(await scene.files.find("ada", left?.handle ?? "")).toMatchObject({ isUntrusted: true });
    expect(scene.noted.map(({ text, context }) => [text, context.hasReadUntrusted === true])).toEqual([
      ["before", false],
      ["after", true],
    ]);
    await using other = await start();
    const bob = await other.callerOf("bob");
    await bob.run("s1", "y = 'of a page'", {}, { hasReadUntrusted: true });
    expect(await bob.run("s1", "print(y)")).toMatchObject({ trust: { level: "untrusted" } });
  });

  test("goes on after a call that waits for people until the time of its cell is nearly over, and is given up", async () => {
    await using scene = await start();
    const ada = await scene.callerOf("ada");
    const script = "from rockbot import tools\ntools.held(text='it')";
    const { content, isError } = await ada.run("s1", script, { timeout_seconds: 5 });
    expect(isError).toBe(true);
    expect(content).toMatch(/"held" waits for people, and a session keeps no call that waits|timed out/); // on a slow machine
    await vi.waitFor(async () => expect(await scene.waiting.open("notes", 1)).toEqual([]), { timeout: 10_000 });
    expect((await ada.run("s1", "print(tools.note(text='after'))")).content).toBe("noted after\n");
  });

  test("says in words that it may call a tool no more, where the policy has changed", async () => {
    await using scene = await start();
    const ada = await scene.callerOf("ada");
    await ada.run("s1", "from rockbot import tools");
    await scene.changePolicy("everyone: { allow: ['*'] }");
    const refused = await ada.run("s1", "tools.note(text='late')", { timeout_seconds: 10 });
    expect(refused).toMatchObject({ isError: true, structured: { limit: null, session: { is_over: false } } });
    expect(refused.content).toContain("note");
    expect(scene.noted).toEqual([]);
  });

  test("takes packages with its first cell alone, and is refused where there can be none", async () => {
    await using scene = await start();
    const ada = await scene.callerOf("ada");
    await ada.run("s1", "1");
    await expect(ada.run("s1", "1", { pip_packages: ["numpy"] })).rejects.toMatchObject({
      details: { reason: "session_packages" },
    });
    await using none = await start({ maxSessions: 0 });
    const bob = await none.callerOf("bob");
    await expect(bob.run("s1", "1")).rejects.toMatchObject({
      code: "denied",
      message: expect.stringContaining("Leave session out"),
    });
  });
});
