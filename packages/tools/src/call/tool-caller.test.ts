import { type Bus, createMemoryBus } from "@rockbot/bus";
import {
  createEnvelope,
  definedBy,
  encodeMessage,
  MAX_REQUEST_BYTES,
  MCP_BRIDGE,
  messages,
  ToolError,
} from "@rockbot/contracts";
import { expect, test, vi } from "vitest";
import type { ToolExecutor } from "../define/tool-executor.ts";
import { MAX_CALLS_IN_FLIGHT } from "../limits.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { aborted, testSet, testTool } from "../test-tools.ts";
import { createToolCaller } from "./tool-caller.ts";

const echo = testTool("echo", async (input) => ({ content: JSON.stringify(input), structured: input }));

test.each([
  ["act", { code: "outcome_unknown", details: { mayHaveRun: true } }],
  ["read", { code: "unavailable", isRetryable: false, details: { mayHaveRun: true } }],
])("a caller that closes its own bus hears at once that its call of %s may have run", async (name, outcome) => {
  const bus = createMemoryBus();
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const wait = (): Promise<string> => {
    begun.resolve();
    return goOn.promise;
  };
  await serveTools(bus, testSet(testTool("act", wait), testTool("read", wait, { readOnly: true })), {
    service: "tools",
  });
  const caller = await createToolCaller(bus, { agent: "agent" });
  const call = caller.call(name, {});
  await begun.promise;
  const closed = bus[Symbol.asyncDispose](); // waits for the tool
  await expect(call).rejects.toMatchObject(outcome);
  await expect(caller.call(name, {})).rejects.toMatchObject({ code: "unavailable", isRetryable: false });
  goOn.resolve("done");
  await closed;
  await caller[Symbol.asyncDispose]();
});

test("calls the tool of a set without a guide", async () => {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, { tools: [echo] }, { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "agent" });
  await caller.discovered();

  expect(await caller.getGuides()).toEqual([]);
  await expect(caller.call("echo", {})).resolves.toMatchObject({ content: "{}" });
});

test("an error of a bridge that labels no tool, as one of an earlier release, counts as a server's words, whatever its code", async () => {
  await using bus = createMemoryBus();
  const refuse = (): never => {
    throw new ToolError("invalid_arguments", "Zebras, it says.");
  };
  const tools = [testTool("earlier", refuse), testTool("labelled", refuse, { trust: definedBy("mcp:zoo", false) })];
  await using _service = await serveTools(bus, { tools }, { service: MCP_BRIDGE });
  await using caller = await createToolCaller(bus, { agent: "agent" });

  await expect(caller.call("earlier", {})).rejects.toMatchObject({
    code: "invalid_arguments",
    trust: { level: "untrusted", origin: "mcp" },
  });
  await expect(caller.call("labelled", {})).rejects.toMatchObject({ code: "invalid_arguments", trust: undefined });
});

test("finds and calls a tool, whichever side started first", async () => {
  await using bus = createMemoryBus();
  await using early = await createToolCaller(bus, { agent: "early" });
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  await using late = await createToolCaller(bus, { agent: "late" });
  for (const caller of [early, late]) {
    await expect(caller.call("echo", { a: 1 })).resolves.toMatchObject({
      content: '{"a":1}',
      structured: { a: 1 },
      isError: false,
    });
  }
});

test("lists the same tools in the same order, whatever the order they came in", async () => {
  const names = ["zeta", "alpha", "Beta", "a_b", "a-b"];
  const listings = await Promise.all(
    [names, names.toReversed()].map(async (order) => {
      await using bus = createMemoryBus();
      await using caller = await createToolCaller(bus, { agent: "lister" });
      await using stack = new AsyncDisposableStack();
      for (const name of order)
        stack.use(
          await serveTools(bus, testSet(testTool(name, async () => "")), {
            service: `s-${name.toLowerCase().replace("_", "0")}`,
          }),
        );
      await vi.waitFor(() => expect(caller.tools.getTools()).toHaveLength(names.length + 2));
      return JSON.stringify(caller.tools.getTools());
    }),
  );
  expect(listings[0]).toBe(listings[1]);
});

test("offers the guides of all services through the two guide tools", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "reader" });
  await expect(caller.call("list_tool_guides", {})).resolves.toMatchObject({
    content: expect.stringContaining("- tests: How the tests' tools are used."),
  });
  await expect(caller.call("get_tool_guide", { name: "TESTS" })).resolves.toMatchObject({
    content: "# Tests\n\nCall them.",
    isError: false,
  });
  await expect(caller.call("get_tool_guide", { name: "nope" })).resolves.toMatchObject({
    isError: true,
    content: expect.stringContaining("Available: tests"),
  });
  await expect(caller.call("get_tool_guide", { nam: "x" })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringMatching(/name: is required.*did you mean "name"/),
  });
});

test("fails at once when nobody serves the tool, and works again when somebody does", async () => {
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "waiter" });
  const service = await serveTools(bus, testSet(echo), { service: "tests" });
  await caller.call("echo", {});
  await service[Symbol.asyncDispose]();
  await expect(caller.call("echo", {})).rejects.toMatchObject({ code: "unavailable", isRetryable: true });
  await expect(caller.call("web_browse", {})).rejects.toMatchObject({ code: "unavailable" }); // a name of the schemas
  await expect(caller.call("list_tool_guide", {})).rejects.toMatchObject({
    code: "tool_not_found",
    isRetryable: false,
    message: expect.stringContaining('did you mean "list_tool_guides"?'),
  });
  const others = Array.from({ length: 30 }, (_, i) => testTool(`server${i}__forecast`, async () => ""));
  await using _ = await serveTools(bus, testSet(echo, ...others), { service: "tests" });
  await expect(caller.call("echo", {})).resolves.toMatchObject({ content: "{}" });
  await expect(caller.call("nothing_alike", {})).rejects.toThrow(/: known: echo, .*, and 13 more$/);
  await expect(caller.call("forecast", {})).rejects.toThrow(
    'did you mean "server0__forecast", "server10__forecast", "server11__forecast", or one of 27 more?',
  );
});

test("a tool that never comes is not to be tried again: one of the agent's turns, or of a running service that has it off", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "knowledge-tools" });
  await using caller = await createToolCaller(bus, { agent: "waiter" });
  const never = { code: "unavailable", isRetryable: false, message: expect.not.stringContaining("Try again") };
  for (const name of ["spawn_wisps", "wisp__digest", "list_working_memory", "report_progress", "search"])
    await expect(caller.call(name, {}), name).rejects.toMatchObject(never);
  await expect(caller.call("search", {})).rejects.toThrow('"knowledge-tools" is running, and has it switched off');
  await using _bridge = await serveTools(bus, testSet(testTool("server__echo", async () => "")), {
    service: "mcp-bridge",
    topic: "tool.invoke.mcp",
  });
  await expect.poll(() => caller.tools.get("server__echo")).toBeDefined();
  for (const name of ["web_search", "mcp_list_services"]) // its service may start, and the bridge's index comes after its list
    await expect(caller.call(name, {}), name).rejects.toMatchObject({ code: "unavailable", isRetryable: true });
  const listed = {
    name: "mcp_list_services",
    description: "",
    parametersSchema: "{}",
    readOnly: true,
    idempotent: true,
    source: MCP_BRIDGE,
  };
  caller.tools.register(listed, testTool("mcp_list_services", async () => "").executor); // the index has come
  await expect(caller.call("mcp_register_server", {})).rejects.toMatchObject(never);
  await expect(caller.call("toString", {})).rejects.toMatchObject({ code: "tool_not_found", isRetryable: false });
});

test("fails at once when a service is gone without a word", async () => {
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "waiter" });
  const { tools, guides } = testSet(echo);
  await bus.publish(
    createEnvelope({
      topic: "tool.announce.ghost",
      type: messages.ToolAnnouncement.type,
      source: "ghost",
      body: encodeMessage("ToolAnnouncement", {
        service: "ghost",
        instance: "one",
        epoch: 1,
        hash: "0123456789abcdef",
        page: 0,
        pages: 1,
        guides: [...(guides ?? [])],
        tools: tools.map(({ definition: { name, description } }) => ({
          name,
          description,
          parametersSchema: "{}",
          topic: "tool.invoke.ghost",
          subscription: "ghost",
        })),
      }),
    }),
  );
  await vi.waitFor(() => expect(caller.tools.getExecutor("echo")).toBeDefined());
  await expect(caller.call("echo", {})).rejects.toMatchObject({ code: "unavailable" });
});

test("leaves a tool's name to its first holder, and gives it to the next when that one leaves", async () => {
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "chooser" });
  const first = await serveTools(bus, testSet(testTool("who", async () => "first")), { service: "first" });
  await vi.waitFor(() => expect(caller.tools.getExecutor("who")).toBeDefined());
  await using _second = await serveTools(
    bus,
    testSet(
      testTool("who", async () => "second"),
      testTool("list_tool_guides", async () => "forged"),
    ),
    { service: "second" },
  );
  await expect(caller.call("who", {})).resolves.toMatchObject({ content: "first" });
  await first[Symbol.asyncDispose]();
  await vi.waitFor(async () => expect((await caller.call("who", {})).content).toBe("second"));
  expect((await caller.call("list_tool_guides", {})).content).not.toBe("forged");
});

test("passes on the tool's own error, code and all", async () => {
  await using bus = createMemoryBus();
  const busy = testTool("busy", async () => {
    throw new ToolError("rate_limited", "Come back later", { retryAfterMs: 1500, details: { reason: "quota" } });
  });
  await using _ = await serveTools(bus, testSet(busy), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker" });
  await expect(caller.call("busy", {})).rejects.toMatchObject({
    code: "rate_limited",
    message: "Come back later",
    isRetryable: true,
    retryAfterMs: 1500,
    details: { reason: "quota" },
  });
});

test("settles at the deadline, cancels the call, and ignores what comes later", async () => {
  await using bus = createMemoryBus();
  const cancelled = Promise.withResolvers<unknown>();
  const slow = testTool("slow", async (_input, { signal }) => {
    await aborted(signal);
    cancelled.resolve(signal.reason);
    return "late";
  });
  await using _ = await serveTools(bus, testSet(slow), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker" });
  await expect(caller.call("slow", {}, { timeoutMs: 100 })).rejects.toMatchObject({
    code: "timeout",
    isRetryable: true,
    details: { mayHaveRun: true },
  });
  await cancelled.promise;
});

test("cancels a running call when its caller aborts", async () => {
  await using bus = createMemoryBus();
  const started = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<unknown>();
  const slow = testTool("slow", async (_input, { signal }) => {
    started.resolve();
    await aborted(signal);
    cancelled.resolve(signal.reason);
    return "late";
  });
  await using _ = await serveTools(bus, testSet(slow), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker" });
  const giveUp = new AbortController();
  const call = caller.call("slow", {}, { signal: giveUp.signal });
  await started.promise;
  giveUp.abort();
  await expect(call).rejects.toMatchObject({ code: "cancelled" });
  expect(await cancelled.promise).toMatchObject({ code: "cancelled" });
});

test.each([3, 200])(
  "shows %i steps of progress in order, the first ten and the last in any case, and none after the answer",
  async (total) => {
    await using bus = createMemoryBus();
    const steps = testTool("steps", async (_input, { progress }) => {
      for (let step = 1; step <= total; step++) progress({ progress: step, total, message: `step ${step}` });
      return "done";
    });
    await using _ = await serveTools(bus, testSet(steps), { service: "tests" });
    await using caller = await createToolCaller(bus, { agent: "watcher" });
    const updates: number[] = [];
    await caller.call("steps", {}, { onProgress: ({ progress }) => updates.push(progress ?? 0) });

    expect(updates).toEqual([
      ...new Set([...Array.from({ length: Math.min(10, total) }, (_step, index) => index + 1), total]),
    ]);
  },
);

test("shows all progress that went before the answer, though the answer overtakes it, and waits no longer for what is lost", async () => {
  await using bus = createMemoryBus();
  let isLost = false;
  const publish: Bus["publish"] = async (message, options) => {
    if (message.topic.startsWith("tool.progress.")) {
      if (isLost) return;
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    return bus.publish(message, options);
  };
  const slow = new Proxy<Bus>(bus, {
    get(target, key) {
      const value: unknown = key === "publish" ? publish : Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const steps = testTool("steps", async (_input, { progress }) => {
    for (const step of [0, 50, 100]) progress({ progress: step, total: 100 });
    return "done";
  });
  await using _ = await serveTools(slow, testSet(steps), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "watcher" });
  await expect.poll(() => caller.tools.getExecutor("steps")).toBeDefined();
  const updates: unknown[] = [];
  const options = { onProgress: ({ progress }: { readonly progress?: number | undefined }) => updates.push(progress) };
  await caller.call("steps", {}, options);
  expect(updates).toEqual([0, 50, 100]);
  isLost = true;
  expect(await caller.call("steps", {}, options)).toMatchObject({ content: "done" });
  expect(updates).toEqual([0, 50, 100]);
});

test("shows what comes in between of long progress, no faster than a client can follow", async () => {
  await using bus = createMemoryBus();
  const steps = testTool("steps", async (_input, { progress }) => {
    for (let step = 1; step <= 100; step++) {
      progress({ progress: step });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return "done";
  });
  await using _ = await serveTools(bus, testSet(steps), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "watcher" });
  const updates: number[] = [];
  const startedAt = performance.now();
  await caller.call("steps", {}, { onProgress: ({ progress }) => updates.push(progress ?? 0) });

  expect(updates.slice(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(updates.at(-1)).toBe(100);
  expect(updates.length).toBeGreaterThan(11);
  expect(updates.length).toBeLessThanOrEqual(12 + (performance.now() - startedAt) / 200);
});

test("refuses what cannot be called: too large, no time, too many at once", async () => {
  await using bus = createMemoryBus();
  const release = Promise.withResolvers<void>();
  const hold = testTool("hold", async () => {
    await release.promise;
    return "released";
  });
  await using _ = await serveTools(bus, testSet(hold), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker" });
  await expect(caller.call("hold", { text: "x".repeat(MAX_REQUEST_BYTES) })).rejects.toMatchObject({
    code: "too_large",
  });
  for (const timeoutMs of [0, -1, Number.NaN, 21 * 60_000])
    await expect(caller.call("hold", {}, { timeoutMs })).rejects.toMatchObject({ code: "invalid_arguments" });
  const calls = Array.from({ length: MAX_CALLS_IN_FLIGHT }, () => caller.call("hold", {}));
  await expect(caller.call("hold", {})).rejects.toMatchObject({ code: "overloaded", isRetryable: true });
  release.resolve();
  expect(new Set((await Promise.all(calls)).map(({ content }) => content))).toEqual(new Set(["released"]));
  await expect(caller.call("hold", {})).resolves.toMatchObject({ content: "released" });
});

test("has as many calls out as it is told to, and no more", async () => {
  await using bus = createMemoryBus();
  const release = Promise.withResolvers<void>();
  const hold = testTool("hold", async () => {
    await release.promise;
    return "released";
  });
  await using _ = await serveTools(bus, testSet(hold), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker", maxCallsInFlight: 2 });
  const calls = [caller.call("hold", {}), caller.call("hold", {})];
  await expect(caller.call("hold", {})).rejects.toMatchObject({ code: "overloaded" });
  release.resolve();
  expect(await Promise.all(calls)).toHaveLength(2);
  await expect(createToolCaller(bus, { agent: "asker", maxCallsInFlight: 0 })).rejects.toThrow(RangeError);
});

test("answers each of many concurrent calls with its own result", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker" });
  const contents = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => (await caller.call("echo", { index })).content),
  );
  expect(contents).toEqual(Array.from({ length: 200 }, (_, index) => JSON.stringify({ index })));
});

test("a running call finishes while its service stops", async () => {
  await using bus = createMemoryBus();
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const hold = testTool("hold", async () => {
    started.resolve();
    await release.promise;
    return "finished";
  });
  const service = await serveTools(bus, testSet(hold), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker" });
  const call = caller.call("hold", {});
  await started.promise;
  const stopping = service[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(caller.tools.getExecutor("hold")).toBeUndefined());
  await expect(caller.call("hold", {})).rejects.toMatchObject({ code: "unavailable" });
  release.resolve();
  await expect(call).resolves.toMatchObject({ content: "finished" });
  await stopping;
});

test("lists a tool that another instance serves again when a newer one has left", async () => {
  await using bus = createMemoryBus();
  const tool = (name: string) => testTool(name, async () => name);
  await using _old = await serveTools(bus, testSet(tool("one"), tool("two")), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker" });
  await vi.waitFor(() => expect(caller.tools.getExecutor("two")).toBeDefined());
  await new Promise((resolve) => setTimeout(resolve, 5)); // a later start has a later epoch, in milliseconds
  const canary = await serveTools(bus, testSet(tool("one"), tool("three")), { service: "tests" });
  await vi.waitFor(() => expect(caller.tools.getExecutor("three")).toBeDefined());
  expect(caller.tools.getExecutor("two")).toBeUndefined();
  await canary[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(caller.tools.getExecutor("two")).toBeDefined(), { timeout: 5_000 });
  expect(caller.tools.getExecutor("three")).toBeUndefined();
});

test("keeps a tool of its own when a service announces and withdraws one of that name, and lists the service's others", async () => {
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "owner" });
  const own: ToolExecutor = { execute: async ({ toolCallId, toolName }) => ({ toolCallId, toolName, content: "own" }) };
  caller.tools.register(
    { name: "b", description: "", parametersSchema: "{}", readOnly: true, idempotent: true, source: "local" },
    own,
  );
  const service = await serveTools(
    bus,
    testSet(...["a", "b", "c"].map((name) => testTool(name, async () => "service's"))),
    { service: "tests" },
  );
  await vi.waitFor(() => expect(caller.tools.getExecutor("c")).toBeDefined());
  await expect(caller.call("b", {})).resolves.toMatchObject({ content: "own" });
  await expect(caller.call("a", {})).resolves.toMatchObject({ content: "service's" });
  await service[Symbol.asyncDispose]();
  await vi.waitFor(() => expect(caller.tools.getExecutor("a")).toBeUndefined());
  expect(caller.tools.getExecutor("b")).toBe(own);
});

test("holds a tool that takes a remote one's name to the deadline, and keeps it when the service leaves", async () => {
  await using bus = createMemoryBus();
  const service = await serveTools(bus, testSet(echo), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "owner" });
  await caller.discovered();
  caller.tools.unregister("echo");
  const endless: ToolExecutor = { execute: () => new Promise(() => {}) };
  caller.tools.register(
    { name: "echo", description: "", parametersSchema: "{}", readOnly: true, idempotent: true, source: "local" },
    endless,
  );
  await expect(caller.call("echo", {}, { timeoutMs: 50 })).rejects.toMatchObject({ code: "timeout" });
  await service[Symbol.asyncDispose]();
  await expect(caller.call("list_tool_guides", {})).resolves.toMatchObject({
    content: expect.not.stringContaining("tests"),
  });
  expect(caller.tools.getExecutor("echo")).toBe(endless);
});

test("ends a call by its deadline, or when it is aborted, while the bus does not say whether anybody serves it", async () => {
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(echo), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker" });
  await caller.discovered();
  vi.spyOn(bus, "inspect").mockReturnValue(new Promise(() => {}));
  const publish = vi.spyOn(bus, "publish");
  await expect(caller.call("echo", {}, { timeoutMs: 50 })).rejects.toMatchObject({
    code: "timeout",
    details: { mayHaveRun: false },
  });
  const controller = new AbortController();
  const call = caller.call("echo", {}, { signal: controller.signal });
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: "cancelled" });
  expect(publish.mock.calls.filter(([{ topic }]) => topic === "tool.invoke.tests")).toEqual([]);
});

test("refuses an id that no message may have, and one that another call has out, without harm to that call", async () => {
  await using bus = createMemoryBus();
  const release = Promise.withResolvers<void>();
  const hold = testTool("hold", async () => {
    await release.promise;
    return "released";
  });
  await using _ = await serveTools(bus, testSet(hold), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker" });
  for (const toolCallId of ["", "x".repeat(129)])
    await expect(caller.call("hold", {}, { toolCallId })).rejects.toMatchObject({ code: "invalid_arguments" });
  const first = caller.call("hold", {}, { toolCallId: "one" });
  const others = [
    caller.call("hold", { a: 1 }, { toolCallId: "one" }),
    caller.call("hold", {}, { toolCallId: "one", onBehalfOf: "somebody" }),
  ];
  for (const other of others)
    await expect(other).rejects.toMatchObject({
      code: "invalid_arguments",
      message: expect.stringContaining("out already"),
    });
  release.resolve();
  await expect(first).resolves.toMatchObject({ content: "released" });
});

test("the same request under the id of a call that is out gets that call's answer, and takes nothing from it", async () => {
  await using bus = createMemoryBus();
  const release = Promise.withResolvers<void>();
  let runs = 0;
  const hold = testTool("hold", async (input) => {
    runs++;
    await release.promise;
    if ((input as { fail?: boolean }).fail) throw new ToolError("execution_failed", "no");
    return "released";
  });
  await using _ = await serveTools(bus, testSet(hold), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  const publish = vi.spyOn(bus, "publish");
  const ask = (options: object = {}, args: object = {}) =>
    caller.call("hold", args, { toolCallId: "one", onBehalfOf: "ann", ...options });
  const asked = [ask(), ask({ keepAnswer: true })];
  const failing = Promise.allSettled([
    ask({ toolCallId: "two" }, { fail: true }),
    ask({ toolCallId: "two" }, { fail: true }),
  ]);
  const gone = new AbortController();
  const given = ask({ signal: gone.signal });
  gone.abort();
  await expect(given).rejects.toMatchObject({ code: "cancelled" });
  await expect(ask({ timeoutMs: 1 })).rejects.toMatchObject({ code: "timeout", details: { mayHaveRun: true } });
  release.resolve();

  expect(await Promise.all(asked)).toEqual([
    expect.objectContaining({ content: "released" }),
    expect.objectContaining({ content: "released" }),
  ]);
  for (const call of await failing) expect(call).toMatchObject({ reason: { code: "execution_failed", message: "no" } });
  expect(await caller.getAnswer("one")).toMatchObject({ content: "released" });
  expect([runs, publish.mock.calls.filter(([{ topic }]) => topic === "tool.invoke.tests").length]).toEqual([2, 2]);
});

test("cancels the calls that are out when the caller ends, and takes no more", async () => {
  await using bus = createMemoryBus();
  const started = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const endless = testTool("endless", async (_input, { signal }) => {
    started.resolve();
    await aborted(signal);
    ended.resolve(signal.reason);
    return "";
  });
  await using _ = await serveTools(bus, testSet(endless), { service: "tests" });
  const caller = await createToolCaller(bus, { agent: "a".repeat(39), instance: "b".repeat(39) });
  const call = caller.call("endless", {});
  const settled = expect(call).rejects.toMatchObject({ code: "cancelled" });
  await started.promise;
  await caller[Symbol.asyncDispose]();
  await settled;
  expect(await ended.promise).toMatchObject({ code: "cancelled" });
  await expect(caller.call("endless", {})).rejects.toMatchObject({ code: "unavailable", isRetryable: false });
});

test("fails with a ToolError even when the bus is closed", async () => {
  const bus = createMemoryBus();
  const service = await serveTools(bus, testSet(echo), { service: "tests" });
  const caller = await createToolCaller(bus, { agent: "asker" });
  await caller.call("echo", {});
  await service[Symbol.asyncDispose]();
  await bus[Symbol.asyncDispose]();
  await expect(caller.call("echo", {})).rejects.toBeInstanceOf(ToolError);
  await caller[Symbol.asyncDispose]();
});
