import { randomBytes } from "node:crypto";
import { type Bus, createMemoryBus } from "@rockbot/bus";
import { messages } from "@rockbot/contracts";
import { createMemoryBlobStore } from "@rockbot/records/blobs";
import { createMemoryClaimStore } from "@rockbot/records/claims";
import { type CallRecord, CallState } from "@rockbot/records/journal";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { sharedRedisUrl } from "@rockbot/testing";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { serveTools } from "../serve/serve-tools.ts";
import { aborted, testSet, testTool } from "../test-tools.ts";
import { createToolCaller } from "./tool-caller.ts";

const url = await sharedRedisUrl();
const newJournals = () => connectRedisJournalStore(url, { prefix: `test-${randomBytes(6).toString("hex")}` });

/** A tool that answers when told to. */
function held() {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const tool = testTool("hold", async (input) => {
    started.resolve();
    await release.promise;
    return JSON.stringify(input);
  });
  return { tool, started: started.promise, release: release.resolve };
}

test("the next process of a caller gets the answers of what was out, once, and a call under such an id joins", async () => {
  await using journals = await newJournals();
  await using bus = createMemoryBus();
  const { tool, started, release } = held();
  await using _ = await serveTools(bus, testSet(tool), { service: "tests" });
  const toolCallId = randomBytes(16).toString("hex");
  {
    await using before = await createToolCaller(bus, { agent: "asker", instance: "a", journals });
    before.call("hold", { index: 1 }, { toolCallId, timeoutMs: 5_000 }).catch(() => {});
    await started;
    await expect.poll(async () => (await before.journal.find(toolCallId))?.state).toBe("accepted");
    expect(before.resumed).toEqual([]);
  }
  release();
  await using after = await createToolCaller(bus, { agent: "asker", instance: "a", journals });
  expect(after.resumed).toMatchObject([{ toolCallId, toolName: "hold" }]);
  const joined = after.call("hold", { index: 1 }, { toolCallId });
  await expect(after.resumed[0]?.answer).resolves.toMatchObject({ toolCallId, content: '{"index":1}' });
  await expect(joined).resolves.toMatchObject({ toolCallId, content: '{"index":1}' });
  expect(await after.getAnswer(toolCallId)).toMatchObject({ content: '{"index":1}' });
  const steps = (await after.journal.find(toolCallId))?.steps.map(({ step }) => step);
  const told = ["admitted", "claimed", "started"]; // by the service, as it answers
  expect(steps).toEqual(["asked", "accepted", ...told, "resumed", "answered"]);

  await using stranger = await createToolCaller(bus, { agent: "asker", instance: "b", journals });
  expect(stranger.resumed).toEqual([]);
});

test("the next process of a caller fetches an answer that was left in the blob store", async () => {
  await using journals = await newJournals();
  await using bus = createMemoryBus();
  await using blobs = createMemoryBlobStore();
  const { tool, started, release } = held();
  await using _ = await serveTools(bus, testSet(tool), { service: "tests", blobs });
  const toolCallId = randomBytes(16).toString("hex");
  const text = "x".repeat(900_000);
  {
    await using before = await createToolCaller(bus, { agent: "asker", instance: "a", journals, blobs });
    before.call("hold", { text }, { toolCallId, timeoutMs: 5_000 }).catch(() => {});
    await started;
    await expect.poll(async () => (await before.journal.find(toolCallId))?.state).toBe("accepted");
    expect(await journals.readOpen("asker.a")).toMatchObject([
      { toolCallId, blob: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    expect(await journals.read("asker.a", toolCallId)).not.toHaveProperty("blob"); // nobody else sees it
  }
  release();
  await using after = await createToolCaller(bus, { agent: "asker", instance: "a", journals, blobs });
  await expect(after.resumed[0]?.answer).resolves.toMatchObject({ toolCallId, content: JSON.stringify({ text }) });
});

test("a call taken up is joined by its own effective caller only: to another its id is taken", async () => {
  await using journals = await newJournals();
  await using bus = createMemoryBus();
  const { tool, started, release } = held();
  await using _ = await serveTools(bus, testSet(tool), { service: "tests" });
  const toolCallId = randomBytes(16).toString("hex");
  {
    await using before = await createToolCaller(bus, { agent: "gateway", instance: "a", journals });
    before.call("hold", { of: "alice" }, { toolCallId, timeoutMs: 10_000, onBehalfOf: "alice" }).catch(() => {});
    await started;
    await expect.poll(async () => (await before.journal.find(toolCallId))?.state).toBe("accepted");
  }
  await using after = await createToolCaller(bus, { agent: "gateway", instance: "a", journals });
  expect(after.resumed).toMatchObject([{ toolCallId, onBehalfOf: "alice" }]);
  for (const onBehalfOf of ["bob", undefined])
    await expect(after.call("hold", { of: "alice" }, { toolCallId, onBehalfOf })).rejects.toMatchObject({
      code: "invalid_arguments",
    });
  const joined = after.call("hold", { of: "alice" }, { toolCallId, onBehalfOf: "alice" });
  release();
  await expect(joined).resolves.toMatchObject({ content: '{"of":"alice"}' });
});

test("what is not answered by its deadline ends in timeout, also if that was over at the start", async () => {
  await using journals = await newJournals();
  await using bus = createMemoryBus();
  const toolCallId = randomBytes(16).toString("hex");
  const at = Date.now();
  const record = {
    toolCallId,
    toolName: "gone",
    caller: "asker.a",
    state: CallState.Asked,
    attempts: 1,
    deadlineAt: at,
    steps: [{ step: CallState.Asked, at }],
  };
  await journals.write("asker.a", [record]);
  await using caller = await createToolCaller(bus, { agent: "asker", instance: "a", journals });
  await expect(caller.resumed[0]?.answer).rejects.toMatchObject({ code: "timeout", details: { mayHaveRun: true } });
  await expect.poll(async () => journals.readOpen("asker.a")).toEqual([]);
});

/** The bus of a process that dies before it has sent its calls. */
const neverSends = (bus: Bus): Bus =>
  new Proxy(bus, {
    get(target, property) {
      const own = Reflect.get(target, property);
      if (property !== "publish") return typeof own === "function" ? own.bind(target) : own;
      return (...[message, options]: Parameters<Bus["publish"]>) =>
        message.type === messages.ToolInvokeRequest.type ? new Promise(() => {}) : target.publish(message, options);
    },
  });

/** Claims of a store that remembers the last hour. */
function hourOldClaims() {
  let aheadMs = -3_600_000;
  const claims = createMemoryClaimStore({ clock: () => performance.now() + aheadMs });
  aheadMs = 0;
  return claims;
}

test.each([
  ["has effects, by the next process itself", {}, true],
  ["only reads, by the next process itself", { readOnly: true }, true],
  ["has effects, once it is asked for again, where the next process is not to send it", {}, false],
  ["has effects, once the tool that made it makes it again", {}, undefined],
])(
  "a call that was noted and not yet sent when its caller died is answered long before its deadline: of a tool that %s",
  async (_, promises, isSentAgain) => {
    await using journals = await newJournals();
    await using bus = createMemoryBus();
    await using claims = hourOldClaims();
    let effects = 0;
    const act = testTool("act", async (input) => `${++effects} of ${JSON.stringify(input)}`, promises);
    await using _service = await serveTools(bus, testSet(act), { service: "tests", claims });
    const toolCallId = randomBytes(16).toString("hex");
    const parent = { signal: new AbortController().signal, deadline: performance.now() + 600_000 };
    const options = {
      toolCallId,
      timeoutMs: 600_000,
      onBehalfOf: "alice",
      durable: true,
      isSentAgain,
      ...(isSentAgain === undefined ? { parent } : {}),
    };
    {
      await using before = await createToolCaller(neverSends(bus), { agent: "gateway", instance: "a", journals });
      before.call("act", { a: 1 }, options).catch(() => {});
      await expect.poll(() => journals.readOpen("gateway.a")).toMatchObject([{ toolCallId, state: CallState.Asked }]);
      expect((await journals.readOpen("gateway.a")).map(({ sent }) => sent !== undefined)).toEqual([
        isSentAgain === true,
      ]);
      expect(await before.journal.find(toolCallId)).not.toHaveProperty("sent"); // nobody else sees the arguments
    }
    await using after = await createToolCaller(bus, { agent: "gateway", instance: "a", journals });
    const again = isSentAgain ? [] : [after.call("act", { a: 1 }, options), after.call("act", { a: 1 }, options)];
    for (const answer of [after.resumed[0]?.answer, ...again])
      await expect(answer).resolves.toMatchObject({ toolCallId, content: '1 of {"a":1}' });
    await expect.poll(() => journals.readOpen("gateway.a")).toEqual([]);
    expect(effects).toBe(1);
  },
);

test("a call whose answer was lost with its caller is answered by what its service has kept, and runs no second time", async () => {
  await using journals = await newJournals();
  await using bus = createMemoryBus();
  let runs = 0;
  await using _service = await serveTools(bus, testSet(testTool("act", async () => `${++runs}`)), { service: "tests" });
  const lost = Promise.withResolvers<void>();
  {
    await using _thief = await bus.subscribe(
      { name: "result.asker.b", topics: ["tool.result.asker.a"], kind: "result" },
      async () => lost.resolve(),
    );
    await using before = await createToolCaller(bus, { agent: "asker", instance: "a", journals });
    before.call("act", {}, { toolCallId: "lost", timeoutMs: 600_000 }).catch(() => {});
    await lost.promise;
  }
  const [record] = await journals.readRecent("asker.a", 1);
  await journals.write("asker.a", [
    {
      ...(record as CallRecord),
      state: CallState.Accepted,
      request: undefined,
      sent: { arguments: "{}", sessionId: null, depth: 0, hasReadUntrusted: false },
    },
  ]);
  await using after = await createToolCaller(bus, { agent: "asker", instance: "a", journals });
  await expect(after.resumed[0]?.answer).resolves.toMatchObject({ toolCallId: "lost", content: "1" });
  expect(runs).toBe(1);
});

test("a call that is sent again and refused is not said not to have run", async () => {
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "asker" });
  {
    await using _service = await serveTools(bus, testSet(testTool("act", async () => "done")), { service: "tests" });
    await caller.discovered();
  }
  const again = caller.call("act", {}, { toolCallId: "again", firstSentMsAgo: 1_000 });
  await expect(again).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("may have been taken"),
    details: { mayHaveRun: true },
  });
  await expect(caller.call("act", {})).rejects.toMatchObject({
    code: "unavailable",
    message: expect.not.stringContaining("taken"),
  });
});

test("a caller without a configured instance leases one, and the next process gets the same", async () => {
  await using journals = await newJournals();
  await using bus = createMemoryBus();
  await using _ = await serveTools(bus, testSet(testTool("where", async () => "here")), { service: "tests" });
  const callersOf = async () => {
    await using caller = await createToolCaller(bus, { agent: "asker", journals });
    await caller.call("where", {});
    return (await caller.journal.recent(10)).map((call) => call.caller);
  };
  expect(await callersOf()).toEqual(["asker.0"]);
  expect(await callersOf()).toEqual(["asker.0", "asker.0"]);
});

test("a caller whose name was taken by another while it was silent goes on under a new one", {
  timeout: 20_000,
}, async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  await using journals = await connectRedisJournalStore(url, { prefix });
  await using bus = createMemoryBus();
  const { tool, started, release } = held();
  await using _ = await serveTools(bus, testSet(tool), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker", journals });
  const before = caller.call("hold", {});
  await started;
  const redis = new Redis(url);
  await redis.set(`${prefix}:{journal}:slot:asker:0`, "another", "PX", 30_000);
  redis.disconnect();
  await expect
    .poll(() => journals.readSlots("asker"), { timeout: 10_000 })
    .toSatisfy((leftMs: number[]) => (leftMs[1] ?? 0) > 0);
  release();
  await expect(before).resolves.toMatchObject({ content: "{}" });
  await expect
    .poll(
      async () => {
        await caller.call("hold", {});
        return (await caller.journal.recent(1))[0]?.caller;
      },
      { timeout: 5_000 },
    )
    .toBe("asker.1");
});

test("a nested call ends with its parent: at its deadline, and when it is cancelled", async () => {
  await using bus = createMemoryBus();
  const reasons: unknown[] = [];
  const inner = testTool("inner", async (_input, { signal }) => {
    await aborted(signal);
    reasons.push((signal.reason as { code?: string }).code);
    return "late";
  });
  await using _inner = await serveTools(bus, testSet(inner), { service: "inner" });
  await using nested = await createToolCaller(bus, { agent: "outer-service" });
  const ends: unknown[] = [];
  const innerStarted = Promise.withResolvers<void>();
  const outer = testTool("outer", async (_input, parent) => {
    const call = nested.call("inner", {}, { parent, timeoutMs: 60_000, onProgress: () => {} });
    innerStarted.resolve();
    ends.push(await call.catch((error: unknown) => (error as { code: string }).code));
    await aborted(parent.signal); // deadlines are kept to 20 ms, so the inner one may be noticed first
    return "late";
  });
  await using _outer = await serveTools(bus, testSet(outer), { service: "outer" });
  await using caller = await createToolCaller(bus, { agent: "asker" });

  const start = performance.now();
  await expect(caller.call("outer", {}, { timeoutMs: 300 })).rejects.toMatchObject({ code: "timeout" });
  await expect.poll(() => [ends.length, reasons.length]).toEqual([1, 1]);
  expect(performance.now() - start).toBeLessThan(30_000); // the inner call alone has a minute

  const giveUp = new AbortController();
  const call = caller.call("outer", {}, { signal: giveUp.signal });
  await innerStarted.promise;
  await expect.poll(() => nested.journal.recent(1)).toMatchObject([{ state: "accepted" }]);
  giveUp.abort();
  await expect(call).rejects.toMatchObject({ code: "cancelled" });
  await expect.poll(() => [ends.at(-1), reasons.at(-1)]).toEqual(["cancelled", "cancelled"]);
});

test("the journal shows progress, failures and cancellations of calls", async () => {
  await using bus = createMemoryBus();
  const steps = testTool("steps", async (_input, { progress }) => {
    progress({ message: "half" });
    await new Promise((resolve) => setTimeout(resolve, 50));
    return "done";
  });
  await using _ = await serveTools(bus, testSet(steps), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker" });
  await caller.call("steps", {}, { onProgress: () => {} });
  await caller.call("stebs", {}).catch(() => {});
  await caller.call("steps", {}, { signal: AbortSignal.abort() }).catch(() => {});
  const calls = await caller.journal.recent(10);
  expect(calls.map(({ state, code }) => [state, code])).toEqual([
    ["cancelled", "cancelled"],
    ["failed", "tool_not_found"],
    ["answered", undefined],
  ]);
  expect(calls[2]?.steps.map(({ step }) => step)).toContain("running");
});

test.each([
  ["that may not run twice is noted before it is made", {}, { idempotent: false }, true],
  ["that only reads is made at once", {}, { readOnly: true }, false],
  ["that only reads, and is to be durable, is noted before", { durable: true }, { readOnly: true }, true],
  ["that may not run twice, and need not be durable, is made at once", { durable: false }, {}, false],
])("a call of a tool %s", async (_, options, promises, isNotedFirst) => {
  await using journals = await newJournals();
  const write = Promise.withResolvers<void>();
  let isHeld = false;
  const slow = new Proxy(journals, {
    get(target, property) {
      const own = Reflect.get(target, property);
      if (property !== "write" && property !== "noteAhead") return typeof own === "function" ? own.bind(target) : own;
      return async (...args: Parameters<typeof journals.noteAhead>) => {
        isHeld = true;
        await write.promise;
        return target[property](...args);
      };
    },
  });
  await using bus = createMemoryBus();
  const { tool, started, release } = held();
  await using _service = await serveTools(bus, testSet({ ...tool, definition: { ...tool.definition, ...promises } }), {
    service: "tests",
  });
  await using caller = await createToolCaller(bus, { agent: "asker", instance: "a", journals: slow });
  await caller.discovered();
  let hasStarted = false;
  void started.then(() => {
    hasStarted = true;
  });
  const answer = caller.call("hold", {}, { timeoutMs: 20_000, ...options });
  await expect.poll(() => isHeld).toBe(true);
  if (isNotedFirst) {
    await new Promise((resolve) => setTimeout(resolve, 50)); // in which it would be made
    expect(hasStarted).toBe(false);
  } else await started;
  write.resolve();
  await started;
  release();
  await expect(answer).resolves.toMatchObject({ content: "{}" });
});

test("a call that is to be durable is refused where it cannot be noted, and any other is made", async () => {
  await using journals = await newJournals();
  const away = new Proxy(journals, {
    get(target, property) {
      const own = Reflect.get(target, property);
      return property === "write" || property === "noteAhead"
        ? () => Promise.reject(new Error("away"))
        : typeof own === "function"
          ? own.bind(target)
          : own;
    },
  });
  await using bus = createMemoryBus();
  const act = testTool("act", async () => "done");
  await using _service = await serveTools(bus, testSet(act), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "asker", instance: "a", journals: away });
  await caller.discovered();
  await expect(caller.call("act", {})).resolves.toMatchObject({ content: "done" });
  await expect(caller.call("act", {}, { durable: true })).rejects.toMatchObject({
    code: "unavailable",
    details: { mayHaveRun: false },
  });
  await using forgetful = await createToolCaller(bus, { agent: "another" });
  await forgetful.discovered();
  await expect(forgetful.call("act", {}, { durable: true })).rejects.toMatchObject({ code: "unavailable" });
});
