import { generateKeyPairSync } from "node:crypto";
import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { Keep, saidBy, type ToolDefinition, type Validator } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { openSqliteRunStore, RunState, signDecision } from "@rockbot/runs";
import { openLocalMaker, pooledRunner } from "@rockbot/sandbox";
import { configSchema, type ScriptsManagerConfig, startScriptsManager } from "@rockbot/scripts-manager";
import { missingNamespaces } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools, type ToolCallContext, type ToolResult } from "@rockbot/tools";
import { createCommander, DECIDE } from "@rockbot/tools/commands";
import { describe, expect, test } from "vitest";

const TOOL = "execute_python_script";
const NAMED = { service: "scripts-manager", topic: "script.invoke" };
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const ALLOWED = "everyone: { allow: ['*'], scripts: { allow: [echo, add, page, facts, held] } }";
const ASKING = `${ALLOWED}
operators: [{ name: ann, tokens: [{ hash: "sha256:${"a".repeat(64)}" }], may: [read, decide] }]
approve: [{ tools: [held], by: [ann] }]`;
const skipped = missingNamespaces();

type Run = (input: { text: string }, context: ToolCallContext) => Promise<string | ToolResult<unknown>>;

function tool(name: string, readOnly: boolean, run: Run) {
  const definition: ToolDefinition<{ text: string }> = {
    name,
    description: `Does ${name}, for tests.`,
    inputSchema: {
      type: "object",
      required: ["text"],
      properties: { text: { type: "string", description: "Any words." }, more: { type: "integer" } },
    },
    readOnly,
    idempotent: readOnly,
    validateInput: ((value: unknown) => typeof value === "object") as Validator<{ text: string }>,
  };
  return defineTool(definition, run);
}

// Long because: it is the list of the parts, in the order in which they start
/** A manager with sandboxes of this machine, a service with tools, and a caller. */
async function start({
  policy: text = ALLOWED,
  ...settings
}: Partial<ScriptsManagerConfig> & { policy?: string } = {}) {
  await using stack = new AsyncDisposableStack();
  const config = loadConfig(configSchema, { env: {}, overrides: { sandboxFloor: 0, ...settings } });
  const bus = stack.use(createMemoryBus());
  const policy = holdPolicy(createPolicy(await readPolicy(text, "test")));
  const calls: { readonly name: string; readonly text: string; readonly context: ToolCallContext }[] = [];
  const noting = (name: string, result: (text: string) => string | ToolResult<unknown>): Run => {
    return async ({ text: said }, context) => {
      calls.push({ name, text: said, context });
      return result(said);
    };
  };
  const tools = [
    tool(
      "echo",
      true,
      noting("echo", (said) => said),
    ),
    tool(
      "add",
      false,
      noting("add", (said) => `added ${said}`),
    ),
    tool(
      "held",
      false,
      noting("held", (said) => `held ${said}`),
    ),
    tool(
      "outside",
      true,
      noting("outside", (said) => said),
    ),
    tool(
      "page",
      true,
      noting("page", (said) => ({ content: said, trust: saidBy("https://page.test/") })),
    ),
    tool(
      "facts",
      true,
      noting("facts", (said) => ({ content: `all of ${said}`, structured: { title: said } })),
    ),
  ];
  const runs = stack.use(await openSqliteRunStore(undefined));
  stack.use(
    await serveTools(
      bus,
      { tools, guides: [] },
      { service: "notes", topic: "tool.invoke", policy, runs, operatorKey: publicKey },
    ),
  );
  const runner = stack.use(
    pooledRunner(await openLocalMaker({ log: silentLogger }), {
      floor: 0,
      ceiling: 4,
      idleMs: 60_000,
      keepBytes: 100_000,
      log: silentLogger,
    }),
  );
  const managerRuns = stack.use(await openSqliteRunStore(undefined));
  stack.use(
    await startScriptsManager(bus, config, { ...NAMED, runner, policy, runs: managerRuns, operatorKey: publicKey }),
  );
  const caller = stack.use(await createToolCaller(bus, { agent: "ada" }));
  await caller.discovered();
  const commander = stack.use(createCommander(bus, { key: privateKey, source: "gateway", policy: undefined }));
  const parts = stack.move();
  return {
    bus,
    policy,
    calls,
    textsOf: (name: string) => calls.filter((call) => call.name === name).map((call) => call.text),
    run: async (script: string, options: Parameters<typeof caller.call>[2] = {}, timeoutSeconds = 30) =>
      await caller.call(TOOL, { script, timeout_seconds: timeoutSeconds }, options),
    async approve(): Promise<void> {
      const [waiting] = await runs.open("notes", 1);
      if (waiting === undefined) throw new Error("nothing waits");
      expect(waiting.state).toBe(RunState.Parked);
      const decision = signDecision(privateKey, waiting, { verdict: "approve", operator: "ann" });
      const body = { caller: waiting.caller, toolCallId: waiting.toolCallId, decision };
      await commander.send(
        { kind: DECIDE, service: "notes", operator: "ann", body },
        { instances: 1, timeoutMs: 5_000 },
      );
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

describe.runIf(skipped === undefined)("tools from a script", { timeout: 60_000 }, () => {
  test("are functions with names, help and errors, alone, side by side and in tasks", async () => {
    await using scene = await start();
    const { content, structured } = await scene.run(`
import asyncio, rockbot
from rockbot import tools
print(tools.echo(text="one"), tools.add(text="two"))
print(tools.parallel([tools.a.echo(text=str(n)) for n in range(40)])[-2:])
async def twice(n):
    return await tools.a.echo(text=await tools.a.echo(text=f"task {n}"))
async def main(): return await asyncio.gather(*[twice(n) for n in range(3)])
print(asyncio.run(main()))
print(tools.search("add"), "outside" in dir(tools))
print(tools.echo.__doc__.splitlines()[2], tools.echo.__annotations__)
try: tools.outside
except AttributeError as error: print(error)
try: tools.echo()
except TypeError as error: print(error)
`);

    expect([content, structured]).toEqual([
      `one added two
['38', '39']
['task 0', 'task 1', 'task 2']
[('add', 'Does add, for tests.')] False
text (string): Any words. {'text': 'string', 'more': 'integer'}
This script may call no tool 'outside'. It may call: a, add, echo, facts, held, page, parallel, search
echo() missing 1 required keyword-only argument: 'text'
`,
      expect.objectContaining({ stderr: "" }),
    ]);
  });

  test("give a value, and with it the text of the answer", async () => {
    await using scene = await start();
    const { content } = await scene.run(`
import json
from rockbot import tools
one = tools.facts(text="it")
[other] = tools.parallel([tools.a.facts(text="that")])
print(json.dumps(one), one["title"], one.text, other.text)
`);
    expect(content).toBe('{"title": "it"} it all of it all of that\n');
  });

  test("may be called by hundreds of tasks, whatever their names, and take no number that JSON does not have", async () => {
    await using scene = await start();
    const { content } = await scene.run(`
import asyncio
from rockbot import tools
async def main():
    tools.parallel([tools.a.echo(text="first")])
    named = asyncio.create_task(each(-1), name="0")
    return [await named, *await asyncio.gather(*[each(n) for n in range(150)])]
async def each(n): return await tools.a.echo(text=str(n))
tools.parallel([tools.a.echo(text="first")])
print(asyncio.run(main()) == [str(n) for n in range(-1, 150)])
try: tools.echo(text="x", more=float("nan"))
except ValueError as error: print(type(error).__name__)
async def wrong(): await tools.a.echo(text="x", more=float("inf"))
try: asyncio.run(wrong())
except ValueError as error: print(type(error).__name__)
print(tools.echo(text="after"))`);

    expect(content).toBe("True\nValueError\nValueError\nafter\n");
  });

  test("that had effects are named by whatever ends the script", async () => {
    await using scene = await start();
    const running = scene.run(`
import rockbot
rockbot.tools.add(text="done")
rockbot.channel.send(b"forged")
import time; time.sleep(20)`);

    await expect(running).rejects.toMatchObject({
      message: expect.stringContaining("add (done)"),
      details: { reason: "script_messages", effects: ["add (done)"], mayHaveRun: true },
    });
  });

  test("are calls of the script's call: as its caller, one deeper, by its id, and no longer than it", async () => {
    await using scene = await start();
    const before = performance.now();
    await scene.run('from rockbot import tools\ntools.add(text="1")', { toolCallId: "parent", timeoutMs: 30_000 });

    expect(scene.calls).toMatchObject([{ context: { caller: "ada", depth: 1 } }]);
    expect(scene.calls[0]?.context.deadline).toBeLessThan(before + 30_000);
  });

  test("mark the script and all that it calls from the first untrusted answer on", async () => {
    await using scene = await start();
    const { trust } = await scene.run(`
from rockbot import tools
tools.add(text="before"); tools.page(text="strange"); tools.add(text="after")`);

    expect(scene.calls.map(({ text, context }) => [text, context.hasReadUntrusted === true])).toEqual([
      ["before", false],
      ["strange", false],
      ["after", true],
    ]);
    expect(trust).toMatchObject({ level: "untrusted", origin: "https://page.test/" });
  });

  test("are not there where the policy names none, and a manager calls none outside the list", async () => {
    await using none = await start({ policy: "everyone: { allow: ['*'] }" });
    expect((await none.run("import rockbot")).content).toContain("No module named 'rockbot'");

    await using scene = await start();
    await using manager = await createToolCaller(scene.bus, { agent: "scripts-manager", results: "copy" });
    await manager.discovered();
    await expect(manager.call("outside", { text: "x" }, { onBehalfOf: "ada" })).rejects.toMatchObject({
      code: "denied",
      details: { reason: "script_tools" },
    });
    expect(scene.textsOf("outside")).toEqual([]);
  });

  test("may wait for people: the script ends in pending, and goes on from its record", async () => {
    await using scene = await start({ policy: ASKING });
    const script = `
import random, rockbot
from rockbot import tools
tools.add(text=f"{random.random()} {rockbot.started_at}")
print(tools.echo(text="before"), tools.held(text="it"), tools.echo(text="after"))`;
    const options = { toolCallId: "waits", keep: Keep.IfParked };
    await expect(scene.run(script, { ...options, timeoutMs: 7_000 }, 3)).rejects.toMatchObject({ code: "pending" });
    await scene.approve();
    const { content } = await scene.run(script, { ...options, timeoutMs: 40_000 }, 3);

    expect(content).toBe("before held it after\n");
    expect(scene.calls.map(({ name }) => name)).toEqual(["add", "echo", "held", "echo"]);
  });

  test("are called no more by a script that asks for something else when it is run again", async () => {
    await using scene = await start({ policy: ASKING });
    const script = `
import os
from rockbot import tools
tools.add(text="done")
tools.echo(text=os.urandom(8).hex())
tools.held(text="it")
tools.add(text="never")`;
    const options = { toolCallId: "differs", keep: Keep.IfParked };
    await expect(scene.run(script, { ...options, timeoutMs: 7_000 }, 3)).rejects.toMatchObject({ code: "pending" });
    await scene.approve();
    await expect(scene.run(script, { ...options, timeoutMs: 40_000 }, 3)).rejects.toMatchObject({
      code: "execution_failed",
      message: expect.stringContaining('"echo" with other arguments at place 1'),
      details: { reason: "script_differs", effects: ["add (done)", "held (done)"] },
    });
    expect(scene.textsOf("add")).toEqual(["done"]);
  });
});

const RAW = `
import json, rockbot
def send(**call): rockbot.channel.send(b"." + json.dumps(call).encode())
def call(n, **more): send(**{"id": n, "path": str(n), "tool": "add", "arguments": {"text": str(n)}, **more})
`;

describe.runIf(skipped === undefined)("a hostile script", { timeout: 90_000 }, () => {
  test.each([
    ["no JSON", 'rockbot.channel.send(b".forged")', "script_messages"],
    ["a piece without a mark", 'rockbot.channel.send(b"forged")', "script_messages"],
    ["a message without an end", 'while True: rockbot.channel.send(b"+" + b"x" * 7000)', "script_messages"],
    ["a place twice", "call(1); call(1)", "script_messages"],
    ["a place that is none", 'call(1, path="../../other")', "script_messages"],
    ["arguments that are none", "call(1, arguments=[])", "script_messages"],
    ["calls without reading answers", 'for n in range(10_000): call(n, tool="held")', "script_messages"],
  ])("that sends %s is ended", async (_, lines, reason) => {
    await using scene = await start({ policy: ASKING });
    const running = scene.run(`${RAW}${lines}\nimport time; time.sleep(20)`);

    await expect(running).rejects.toMatchObject({ code: "execution_failed", details: { reason } });
  });

  test("that makes 10 000 calls gets as many as it may, then refusals, and is ended", async () => {
    await using scene = await start({ maxToolCalls: 50 });
    const running = scene.run(`
from rockbot import ToolError, tools
for n in range(10_000):
    try: tools.add(text=str(n))
    except ToolError as error: print(error.code)`);

    await expect(running).rejects.toMatchObject({ code: "execution_failed", details: { reason: "script_calls" } });
    expect(scene.textsOf("add")).toHaveLength(50);
  });

  test("has no other process and no thread that calls tools for it", async () => {
    await using scene = await start();
    const { content } = await scene.run(`${RAW}
import os, threading
from rockbot import tools
if os.fork() == 0:
    call(1, arguments={"text": "forged"})
    try: tools.add(text="child")
    except RuntimeError: os._exit(0)
    os._exit(1)
print(os.wait()[1])
def by_thread():
    try: tools.add(text="thread")
    except RuntimeError: print("refused")
thread = threading.Thread(target=by_thread); thread.start(); thread.join()
print(tools.add(text="own"))`);

    expect([content, scene.textsOf("add")]).toEqual([
      expect.stringMatching(/^0\nrefused\nadded own\n\n\n\[1 messages of processes/),
      ["own"],
    ]);
  });

  test("calls nothing outside its list by forged frames", async () => {
    await using scene = await start();
    const { content } = await scene.run(`${RAW}
call(1, tool="outside"); call(2, tool="execute_python_script"); call(3, tool="get_tool_guide")
for _ in range(3): print(json.loads(rockbot.channel.recv(65536)[1:])["error"]["code"])`);

    expect([content, scene.calls]).toEqual(["denied\ndenied\ndenied\n", []]);
  });
});
