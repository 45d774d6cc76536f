import { type Bus, createMemoryBus, silentLogger } from "@rockbot/bus";
import {
  type AnnouncedTool,
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  type MessageName,
  type Messages,
  messages,
  newId,
} from "@rockbot/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { createIdentity } from "../messages/identity.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { testSet, testTool } from "../test-tools.ts";
import { announceTools } from "./announce-tools.ts";
import { AnswerAllowance } from "./answer-allowance.ts";

const of = (service: string) => ({ service, instance: "i", epoch: 1, hash: "0".repeat(16) });

const toolNamed = (name: string, description = ""): AnnouncedTool => ({
  name,
  description,
  parametersSchema: "{}",
  topic: "tool.invoke.raw",
  subscription: "raw",
});

function say<Name extends MessageName>(bus: Bus, topic: string, name: Name, value: Messages[Name]): Promise<void> {
  return bus.publish(
    createEnvelope({ topic, type: messages[name].type, source: "raw", body: encodeMessage(name, value) }),
  );
}

/** The bus, with something done to each message before its handler has it. */
function through(bus: Bus, pass: (message: Envelope) => Promise<boolean>): Bus {
  return new Proxy(bus, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "subscribe") return typeof value === "function" ? value.bind(target) : value;
      const subscribe: Bus["subscribe"] = (options, handler) =>
        target.subscribe(options, async (message, delivery) => {
          if (await pass(message)) await handler(message, delivery);
        });
      return subscribe;
    },
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Hears all that is said to find tools. */
async function overhear(bus: Bus) {
  const heard: Envelope[] = [];
  const subscription = await bus.subscribe(
    { name: "spy", topics: ["tool.announce.#", "tool.result.#"], kind: "copy" },
    async (message) => void heard.push(message),
  );
  return {
    of: (name: MessageName, topic = /./) =>
      heard.filter((message) => message.type === messages[name].type && topic.test(message.topic)),
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}

test("discovery waits for whoever is there, however slow the bus is", async () => {
  await using bus = createMemoryBus();
  const tools = Array.from({ length: 500 }, (_, n) =>
    testTool(`tool_${n}`, async () => "fine", { description: "x".repeat(1_000) }),
  );
  await using _service = await serveTools(bus, testSet(...tools), { service: "tests" });
  const slow = through(bus, () => pause(400).then(() => true));
  await using caller = await createToolCaller(slow, { agent: "agent" });
  expect(await caller.discovered()).toEqual({ isComplete: true, services: ["tests"], missing: [] });
  expect(caller.tools.getTools().filter(({ name }) => name.startsWith("tool_"))).toHaveLength(500);
});

test("discovery says which lists are missing, a call of an unknown name is unavailable meanwhile, and the list is asked for until it comes", async () => {
  await using bus = createMemoryBus();
  const asked: string[] = [];
  const raw = { ...of("raw"), pages: 2 };
  await using _asked = await bus.subscribe(
    { name: "raw", topics: ["tool.announce.list.raw"], kind: "copy" },
    async ({ replyTo = "" }) => {
      asked.push(replyTo);
      for (const page of asked.length === 1 ? [0] : [0, 1])
        await say(bus, replyTo, "ToolAnnouncement", { ...raw, page, tools: [toolNamed(`tool_${page}`)], guides: [] });
    },
  );
  await using caller = await createToolCaller(bus, { agent: "agent" });
  const beat = () => say(bus, "tool.announce.raw", "ToolHeartbeat", raw);
  await beat();
  const heartbeats = setInterval(() => void beat(), 2_000);
  try {
    await expect.poll(() => asked.length).toBe(1);
    await expect(caller.call("tool_1", {}, { timeoutMs: 1_000 })).rejects.toMatchObject({ code: "timeout" });
    expect(await caller.discovered()).toEqual({ isComplete: true, services: ["raw"], missing: [] });
    expect(asked).toHaveLength(2);
    expect(caller.tools.getExecutor("tool_1")).toBeDefined();
  } finally {
    clearInterval(heartbeats);
  }
});

test.for([
  ["one list", (_n: number) => "0".repeat(16)],
  ["a list that changes all the time", (n: number) => String(n).padStart(16, "0")],
] as const)(
  "%s that was long asked for in vain is asked for every 4 s, so that it comes soon after the bus is whole again",
  async ([, hashOf]) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    await using bus = createMemoryBus();
    await using spy = await overhear(bus);
    await using _caller = await createToolCaller(bus, { agent: "agent" });
    const asks: number[] = [];
    for (let seconds = 0; seconds <= 40; seconds += 0.5) {
      await say(bus, "tool.announce.raw", "ToolHeartbeat", { ...of("raw"), hash: hashOf(2 * seconds) });
      await expect.poll(() => spy.of("ToolHeartbeat", /raw/).length).toBe(2 * seconds + 1);
      await new Promise((resolve) => setImmediate(resolve));
      if (spy.of("ToolAnnounceProbe", /list\.raw/).length > asks.length) asks.push(seconds);
      vi.advanceTimersByTime(500);
    }
    expect(asks).toEqual([0, 1, 3, 7, 11, 15, 19, 23, 27, 31, 35, 39]);
  },
);

test("a caller that is closed waits for no service any more, so that its process can end", async () => {
  vi.useFakeTimers({ toFake: ["performance"] }); // no time passes: it alone would end the wait
  onTestFinished(() => void vi.useRealTimers());
  await using bus = createMemoryBus();
  const caller = await createToolCaller(bus, { agent: "agent" });
  const discovered = caller.discovered();
  await caller[Symbol.asyncDispose]();
  expect(await discovered).toMatchObject({ services: [] });
});

test("a list that does not come is named, with the pages that are here", { timeout: 15_000 }, async () => {
  await using bus = createMemoryBus();
  const raw = { ...of("raw"), pages: 3 };
  await using _asked = await bus.subscribe(
    { name: "raw", topics: ["tool.announce.list.raw"], kind: "copy" },
    ({ replyTo = "" }) => say(bus, replyTo, "ToolAnnouncement", { ...raw, page: 1, tools: [], guides: [] }),
  );
  await using spy = await overhear(bus);
  await using caller = await createToolCaller(bus, { agent: "agent" });
  const heartbeats = setInterval(() => void say(bus, "tool.announce.raw", "ToolHeartbeat", raw), 500);
  try {
    await expect.poll(() => spy.of("ToolAnnouncement").length).toBe(1);
    await expect(caller.call("anything", {}, { timeoutMs: 5_000 })).rejects.toMatchObject({
      code: "unavailable",
      isRetryable: true,
      message: expect.stringContaining('the tools of "raw" are not known yet'),
    });
    expect(await caller.discovered()).toEqual({
      isComplete: false,
      services: [],
      missing: [{ service: "raw", pages: 3, pagesHad: 1 }],
    });
  } finally {
    clearInterval(heartbeats);
  }
  await expect.poll(async () => (await caller.discovered()).isComplete, { timeout: 12_000 }).toBe(true); // it is gone
});

test("a list that cannot be used is named with its fault, in few words, and is taken once the service sends a good one", async () => {
  await using bus = createMemoryBus();
  let tool = { ...toolNamed("odd:tool"), description: "x".repeat(100_000) };
  let raw = { ...of("raw"), pages: 1 };
  await using _asked = await bus.subscribe(
    { name: "raw", topics: ["tool.announce.list.raw"], kind: "copy" },
    ({ replyTo = "" }) => say(bus, replyTo, "ToolAnnouncement", { ...raw, page: 0, tools: [tool], guides: [] }),
  );
  await using caller = await createToolCaller(bus, { agent: "agent" });
  await say(bus, "tool.announce.raw", "ToolHeartbeat", raw);
  await expect
    .poll(async () => (await caller.discovered()).missing[0]?.fault)
    .toMatch(/^ToolAnnouncement: .*tools.*name.*odd:tool/);
  const { missing, isComplete } = await caller.discovered();
  expect(isComplete).toBe(false);
  expect(missing[0]?.fault?.length).toBeLessThanOrEqual(501);
  await expect(caller.call("anything", {})).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: false,
    message: expect.stringContaining('the list of service "raw" cannot be used: ToolAnnouncement: '),
  });
  tool = toolNamed("good");
  raw = { ...raw, hash: "1".repeat(16) };
  await expect
    .poll(() => say(bus, "tool.announce.raw", "ToolHeartbeat", raw).then(() => caller.tools.getExecutor("good")), {
      timeout: 5_000,
      interval: 200,
    })
    .toBeDefined();
  expect(await caller.discovered()).toEqual({ isComplete: true, services: ["raw"], missing: [] });
});

test("a service that knows only announcements to all and heartbeats without pages is found, and its changes are", async () => {
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "agent" });
  const page = { ...of("raw"), page: 0, pages: 1, guides: [] };
  await say(bus, "tool.announce.raw", "ToolAnnouncement", { ...page, tools: [toolNamed("first")] });
  await say(bus, "tool.announce.raw", "ToolHeartbeat", of("raw"));
  await expect.poll(() => caller.tools.getExecutor("first")).toBeDefined();
  await say(bus, "tool.announce.raw", "ToolAnnouncement", {
    ...page,
    hash: "1".repeat(16),
    tools: [toolNamed("second")],
  });
  await expect.poll(() => caller.tools.getExecutor("second")).toBeDefined();
  expect(caller.tools.getExecutor("first")).toBeUndefined();
});

async function startChanging(bus: Bus) {
  const many = Array.from({ length: 100 }, (_, n) => toolNamed(`tool_${n}`, "x".repeat(500)));
  const guide = { name: "guide", summary: "", document: "" };
  const identity = createIdentity(bus, undefined);
  const announcer = await announceTools(bus, {
    service: "raw",
    list: { tools: many, guides: [guide] },
    identity,
    log: silentLogger,
  });
  return { announcer, many, guide };
}

test("of a change all hear what is another, and who has missed the one before asks for the whole", async () => {
  await using bus = createMemoryBus();
  let isDeaf = false;
  const lossy = through(bus, async ({ type }) => !(isDeaf && type === messages.ToolListChange.type));
  const { announcer, many, guide } = await startChanging(bus);
  await using _announcer = announcer;
  await using caller = await createToolCaller(bus, { agent: "caller" });
  await using deaf = await createToolCaller(lossy, { agent: "deaf" });
  await Promise.all([caller.discovered(), deaf.discovered()]);
  await using spy = await overhear(bus);
  const descriptionOf = (of: typeof caller, name: string) =>
    of.tools.getTools().find((tool) => tool.name === name)?.description;

  isDeaf = true;
  announcer.update({ tools: [toolNamed("tool_0", "another"), ...many.slice(2)], guides: [guide] });
  await expect.poll(() => descriptionOf(caller, "tool_0")).toBe("another");
  expect(caller.tools.getExecutor("tool_1")).toBeUndefined();
  await expect.poll(() => descriptionOf(deaf, "tool_0"), { timeout: 5_000 }).toBe("another"); // told by the next heartbeat
  isDeaf = false;
  announcer.update({ tools: [toolNamed("new"), ...many], guides: [] });
  for (const each of [caller, deaf]) await expect.poll(() => descriptionOf(each, "new")).toBe("");
  for (const each of [caller, deaf]) expect(await each.getGuides()).toEqual([]);

  expect(spy.of("ToolListChange")).toHaveLength(2);
  expect(spy.of("ToolAnnouncement", /^tool\.announce/)).toEqual([]);
  expect(spy.of("ToolAnnouncement").map(({ topic }) => topic)).toEqual([
    expect.stringMatching(/^tool\.result\.deaf\.[0-9a-f]{12}$/),
  ]);
});

test("until a change is told, whoever asks hears of the list that all know, so that nobody asks for the whole of another", async () => {
  await using bus = createMemoryBus();
  const { announcer, many, guide } = await startChanging(bus);
  await using _announcer = announcer;
  await using spy = await overhear(bus);
  await using caller = await createToolCaller(bus, { agent: "caller" });
  await caller.discovered();
  const probe = spy.of("ToolAnnounceProbe", /probe$/)[0] as Envelope;
  const had = {
    asked: spy.of("ToolAnnounceProbe", /list/).length,
    told: spy.of("ToolHeartbeat", /^tool\.result\.caller/).length,
  };
  announcer.update({ tools: [toolNamed("new"), ...many], guides: [guide] });
  await bus.publish({ ...probe, messageId: newId() });
  await expect.poll(() => caller.tools.getExecutor("new")).toBeDefined();
  await expect.poll(() => spy.of("ToolHeartbeat", /^tool\.result\.caller/)).toHaveLength(had.told + 1);
  expect(spy.of("ToolAnnounceProbe", /list/)).toHaveLength(had.asked);
});

test("a list that is all another is told to all at once, and a replica's that is the same is not read again", async () => {
  await using bus = createMemoryBus();
  const { announcer, guide } = await startChanging(bus);
  await using _announcer = announcer;
  await using caller = await createToolCaller(bus, { agent: "caller" });
  await caller.discovered();
  await using spy = await overhear(bus);
  announcer.update({ tools: [toolNamed("only")], guides: [guide] });
  await expect.poll(() => caller.tools.getExecutor("only")).toBeDefined();
  const registered: string[] = [];
  caller.tools.onChange(({ kind, name }) => void (kind === "registered" && registered.push(name)));
  const [all] = spy.of("ToolAnnouncement", /^tool\.announce\.raw$/);
  if (all === undefined) throw new Error("no announcement went to all");
  const page = decodeMessage("ToolAnnouncement", all.body);
  if (!page.ok) throw new Error(page.fault.message);
  const other = (hash: string, tool: string) =>
    encodeMessage("ToolAnnouncement", { ...page.value, hash, tools: [toolNamed(tool)] });
  await bus.publish({ ...all, body: other("1".repeat(16), "not_read") }); // its header says that it is known
  await bus.publish({ ...all, body: other("2".repeat(16), "read"), headers: {} });
  await expect.poll(() => registered).toEqual(["read"]);
});

test("of a service no more is kept than 32 MiB, in a list that is on its way as in changes to one that is here", async () => {
  await using bus = createMemoryBus();
  const large = (name: string): AnnouncedTool => ({
    ...toolNamed(name),
    parametersSchema: JSON.stringify({ description: "x".repeat(1024 * 1024) }),
  });
  await using spy = await overhear(bus);
  await using caller = await createToolCaller(bus, { agent: "agent" });
  const raw = { ...of("raw"), pages: 50 };
  await say(bus, "tool.announce.raw", "ToolHeartbeat", raw);
  for (let page = 0; page < 40; page++)
    await say(bus, "tool.announce.raw", "ToolAnnouncement", {
      ...raw,
      page,
      tools: [large(`tool_${page}`)],
      guides: [],
    });
  await expect.poll(() => spy.of("ToolAnnouncement").length).toBe(40);
  expect((await caller.discovered()).missing[0]?.pagesHad ?? 0).toBeLessThan(32);

  const hash = (n: number): string => String(n).padStart(16, "0");
  const changing = { ...of("changing"), hash: hash(0) };
  await say(bus, "tool.announce.changing", "ToolAnnouncement", {
    ...changing,
    page: 0,
    pages: 1,
    tools: [],
    guides: [],
  });
  for (let n = 0; n < 40; n++) {
    const change = {
      ...changing,
      from: hash(n),
      hash: hash(n + 1),
      tools: [large(`change_${n}`)],
      removedTools: [],
      guides: [],
      removedGuides: [],
    };
    await say(bus, "tool.announce.changing", "ToolListChange", change);
  }
  await expect.poll(() => spy.of("ToolListChange").length).toBe(40);
  await expect.poll(() => spy.of("ToolAnnounceProbe", /list\.changing/).length).toBeGreaterThan(0);
  const known = caller.tools.getTools().filter(({ name }) => name.startsWith("change_"));
  expect(known.length).toBeGreaterThan(20);
  expect(known.length).toBeLessThan(32);
});

test("whoever calls unknown names all the time asks once a second, and no list comes of it", async () => {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(testTool("echo", async () => "fine")), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "agent" });
  await caller.discovered();
  await using spy = await overhear(bus);
  const start = performance.now();
  for (let round = 0; round < 3; round++)
    await Promise.allSettled(Array.from({ length: 50 }, (_, n) => caller.call(`unknown_${round}_${n}`, {})));
  const seconds = (performance.now() - start) / 1_000;
  expect(spy.of("ToolAnnounceProbe").length).toBeLessThanOrEqual(Math.ceil(seconds) + 1);
  expect(spy.of("ToolAnnouncement")).toEqual([]);
});

test("a caller that asks for the list without end gets its share of it, and others get theirs", async () => {
  await using bus = createMemoryBus();
  const { announcer } = await startChanging(bus);
  await using _announcer = announcer;
  await using spy = await overhear(bus);
  const body = encodeMessage("ToolAnnounceProbe", { service: "raw" });
  const ask = (source: string) =>
    bus.publish(
      createEnvelope({
        topic: "tool.announce.list.raw",
        type: messages.ToolAnnounceProbe.type,
        source,
        replyTo: `tool.result.${source}.x`,
        body,
      }),
    );
  for (let i = 0; i < 2_000; i++) await ask("greedy");
  await ask("modest");
  await expect.poll(() => spy.of("ToolAnnouncement", /modest/).length, { timeout: 10_000 }).toBe(1);
  const bytes = spy.of("ToolAnnouncement", /greedy/).reduce((sum, { body: { byteLength } }) => sum + byteLength, 0);
  expect(bytes).toBeGreaterThan(8 * 1024 * 1024);
  expect(bytes).toBeLessThan(64 * 1024 * 1024);
});

test("an allowance fills again, for each asker by itself and for all together", () => {
  let now = 0;
  const allowance = new AnswerAllowance(() => now);
  const takeAll = (asker: string) => {
    let taken = 0;
    while (taken < 1_000 && allowance.take(asker, 1024 * 1024)) taken++;
    return taken;
  };
  const most = takeAll("a");
  expect(most).toBeGreaterThan(25);
  expect(most).toBeLessThanOrEqual(32);
  expect(takeAll("b")).toBe(most);
  now += 1_000;
  expect(takeAll("a")).toBeGreaterThanOrEqual(3);
  let all = 0;
  for (let n = 0; n < 100; n++) all += takeAll(`many-${n}`);
  expect(all).toBeLessThan(128);
});

test("a probe that names no topic of its sender's is not answered", async () => {
  await using bus = createMemoryBus();
  const { announcer } = await startChanging(bus);
  await using _announcer = announcer;
  await using spy = await overhear(bus);
  const probe = {
    type: messages.ToolAnnounceProbe.type,
    source: "agent",
    body: encodeMessage("ToolAnnounceProbe", {}),
  };
  for (const replyTo of [undefined, "tool.invoke.raw", "tool.announce.raw"])
    for (const topic of ["tool.announce.probe", "tool.announce.list.raw"])
      await bus.publish(createEnvelope({ ...probe, topic, replyTo }));
  await bus.publish(createEnvelope({ ...probe, topic: "tool.announce.probe", replyTo: "tool.result.agent.x" }));
  await expect
    .poll(() => spy.of("ToolHeartbeat", /^tool\.result/).map(({ topic }) => topic))
    .toEqual(["tool.result.agent.x"]);
  expect(spy.of("ToolAnnouncement")).toEqual([]);
  const [heartbeat] = spy.of("ToolHeartbeat", /^tool\.result/).map(({ body }) => decodeMessage("ToolHeartbeat", body));
  expect(heartbeat).toMatchObject({ ok: true, value: { service: "raw", pages: 1 } });
});
