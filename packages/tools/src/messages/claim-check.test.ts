import { type Bus, createMemoryBus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, Header, messages } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { type BlobStore, createMemoryBlobStore } from "@rockbot/records/blobs";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { INLINE_RESULT_BYTES, MAX_BLOB_RESULT_BYTES, MAX_RESULT_BYTES } from "../limits.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { testSet, testTool } from "../test-tools.ts";
import { fetchAnswer, leaveAnswer, newCapability } from "./claim-check.ts";

const MI = 1024 * 1024;

/** A service and a caller, each with the blob store that it is given, or none. */
async function connect({
  serving,
  calling,
  maxBytesPerOwner,
}: {
  readonly serving?: BlobStore;
  readonly calling?: BlobStore;
  readonly maxBytesPerOwner?: number;
} = {}) {
  await using stack = new AsyncDisposableStack();
  const bus = stack.use(createMemoryBus());
  const shared = stack.use(createMemoryBlobStore(maxBytesPerOwner === undefined ? {} : { maxBytesPerOwner }));
  const seen = { length: 0, headers: {} as Readonly<Record<string, string>> };
  const watched: Bus = watch(bus, ({ type, body, headers }) => {
    if (type === messages.ToolInvokeResponse.type || type === messages.ToolError.type)
      Object.assign(seen, { length: body.byteLength, headers });
  });
  /** Gives an answer whose encoded body has so many bytes. */
  const sized = testTool("sized", async (input, { toolCallId }) => {
    const { bytes } = input as { bytes: number };
    const empty = encodeMessage("ToolInvokeResponse", {
      toolCallId,
      toolName: "sized",
      content: "",
      isError: false,
    }).byteLength;
    return "x".repeat(bytes - empty);
  });
  stack.use(
    await serveTools(watched, testSet(sized), {
      service: "tests",
      blobs: serving === NONE ? undefined : (serving ?? shared),
    }),
  );
  const caller = stack.use(
    await createToolCaller(bus, { agent: "someone", blobs: calling === NONE ? undefined : (calling ?? shared) }),
  );
  await caller.discovered();
  const parts = stack.move();
  return {
    bus,
    shared,
    seen,
    caller,
    call: (bytes: number) => caller.call("sized", { bytes }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const NONE = createMemoryBlobStore();

/** The bus, with a look at what is published. */
function watch(bus: Bus, look: (message: Parameters<Bus["publish"]>[0]) => void): Bus {
  return new Proxy(bus, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (name !== "publish") return typeof value === "function" ? value.bind(target) : value;
      return (message: Parameters<Bus["publish"]>[0], ...rest: []) => {
        look(message);
        return target.publish(message, ...rest);
      };
    },
  });
}

test.each([
  [INLINE_RESULT_BYTES - 1, false],
  [INLINE_RESULT_BYTES, false],
  [INLINE_RESULT_BYTES + 1, true],
  [MAX_RESULT_BYTES, true],
  [MAX_RESULT_BYTES + 1, true],
  [MAX_BLOB_RESULT_BYTES - 1, true],
  [MAX_BLOB_RESULT_BYTES, true],
])("a result of %i bytes arrives whole, and by the blob store: %s", async (bytes, isLeft) => {
  await using system = await connect();
  const { content } = await system.call(bytes);
  expect(/^x*$/.test(content ?? "")).toBe(true);
  expect(content?.length).toBeGreaterThan(bytes - 200);
  expect(Header.Blob in system.seen.headers).toBe(isLeft);
  if (isLeft) expect(system.seen.length).toBeLessThan(200);
  else expect(system.seen.length).toBe(bytes);
});

test("a larger result is refused in words", async () => {
  await using system = await connect();
  await expect(system.call(MAX_BLOB_RESULT_BYTES + 1)).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringContaining("Ask for less"),
  });
});

test.each([
  ["the service has no blob store", { serving: NONE }],
  ["the caller has none, and does not ask", { calling: NONE }],
])("where %s, results cross the bus as ever", async (_, stores) => {
  await using system = await connect(stores);
  expect((await system.call(MI)).content?.length).toBeGreaterThan(MI - 200);
  expect(system.seen.length).toBe(MI);
  expect(system.seen.headers).not.toHaveProperty(Header.Blob);
  await expect(system.call(MAX_RESULT_BYTES + 1)).rejects.toMatchObject({ code: "too_large" });
});

test("a result that has been fetched is not kept, so that the caller's room is free again", async () => {
  await using system = await connect({ maxBytesPerOwner: 2 * MI });
  for (let i = 0; i < 5; i++) expect((await system.call(1.5 * MI)).content?.length).toBeGreaterThan(MI);
});

test("where the caller's room is full, or the store away, a result crosses the bus as far as that carries it", async () => {
  const away = { ...createMemoryBlobStore(), put: () => Promise.reject(new StoreUnavailableError("away")) };
  for (const options of [{ maxBytesPerOwner: MI }, { serving: away }]) {
    await using system = await connect(options);
    await system.call(2 * MI);
    expect(system.seen.length).toBe(2 * MI);
    await expect(system.call(9 * MI)).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringContaining("where caller and service have it"),
    });
  }
});

test.each([
  ["missing", { get: () => createMemoryBlobStore().get("none", 1) }, "outcome_unknown", "result_missing"],
  ["another one", { get: async () => new Uint8Array(MI + 28) }, "outcome_unknown", "result_damaged"],
  [
    "out of reach",
    { get: () => Promise.reject(new StoreUnavailableError("away")) },
    "outcome_unknown",
    "result_out_of_reach",
  ],
])("a result that is %s where it was left ends its call in words", async (_, broken, code, reason) => {
  await using system = await connect({ calling: { ...createMemoryBlobStore(), ...broken } });
  await expect(system.call(MI)).rejects.toMatchObject({
    code,
    message: expect.stringContaining('"sized" has run'),
    details: { reason, mayHaveRun: true },
  });
});

test("a result that does not come by the deadline ends its call shortly after", async () => {
  await using system = await connect({
    calling: { ...createMemoryBlobStore(), get: () => new Promise<never>(() => {}) },
  });
  const start = performance.now();
  await expect(system.caller.call("sized", { bytes: MI }, { timeoutMs: 800 })).rejects.toMatchObject({
    details: { reason: "result_out_of_reach" },
  });
  expect(performance.now() - start).toBeLessThan(5_000);
});

test("each call has a capability of its own, which only its request tells", async () => {
  await using system = await connect();
  const capabilities = new Set<string | undefined>();
  await using _ = await system.bus.subscribe(
    { name: "spy", topics: ["tool.invoke.tests"], kind: "copy" },
    async ({ headers }) => {
      capabilities.add(headers[Header.AcceptBlob]);
    },
  );
  await system.call(MI);
  await system.call(10_000);
  await expect.poll(() => capabilities.size).toBe(2);
  for (const capability of capabilities) expect(capability).toMatch(/^[0-9a-f]{64}$/);
  expect(JSON.stringify(await system.caller.journal.recent(10))).not.toMatch(/[0-9a-f]{64}/);
  expect(JSON.stringify(system.seen.headers)).not.toContain([...capabilities][0]);
});

test("a reference that a caller did not ask for is not followed", async () => {
  await using bus = createMemoryBus();
  const tool = testTool("plain", async () => "here");
  await using _ = await serveTools(
    watch(bus, (message) =>
      Object.assign(message.headers, message.type.endsWith("Response") ? { [Header.Blob]: "x" } : {}),
    ),
    testSet(tool),
    { service: "tests" },
  );
  await using caller = await createToolCaller(bus, { agent: "someone" });
  expect(await caller.call("plain", {})).toMatchObject({ content: "here" });
});

test("what is left can be read with the capability alone, and is written once", async () => {
  await using store = createMemoryBlobStore();
  const capability = newCapability();
  const body = Buffer.from("a result ".repeat(100));
  const left = { capability, owner: "someone", ttlMs: 60_000 };
  const put: Uint8Array[] = [];
  const watched: BlobStore = {
    ...store,
    put: (name, bytes, options) => store.put(name, put[put.push(bytes) - 1] as Uint8Array, options),
  };
  const reference = await leaveAnswer(watched, body, left);
  expect(await leaveAnswer(watched, body, left)).toBe(reference); // the call was delivered twice
  expect(put.some((bytes) => Buffer.from(bytes).includes("result"))).toBe(false);
  await expect(fetchAnswer(store, reference, { capability: newCapability(), toolName: "t" })).rejects.toMatchObject({
    details: { reason: "result_missing" },
  });
  await expect(fetchAnswer(store, "nonsense", { capability, toolName: "t" })).rejects.toMatchObject({
    details: { reason: "result_damaged" },
  });
  await expect(fetchAnswer(store, `${"0".repeat(64)}:99999999`, { capability, toolName: "t" })).rejects.toMatchObject({
    code: "too_large",
  });
  expect(Buffer.from(await fetchAnswer(store, reference, { capability, toolName: "t" })).equals(body)).toBe(true);
  await expect(fetchAnswer(store, reference, { capability, toolName: "t" })).rejects.toMatchObject({
    details: { reason: "result_missing" },
  });
});

test("an answer that is left for one call is not taken for another", async () => {
  await using bus = createMemoryBus();
  await using store = createMemoryBlobStore();
  await using _announced = await serveTools(bus, testSet(testTool("sized", () => new Promise<never>(() => {}))), {
    service: "tests",
    drainMs: 1,
  });
  await using caller = await createToolCaller(bus, { agent: "someone", blobs: store });
  await using _forger = await bus.subscribe(
    { name: "forger", topics: ["tool.invoke.tests"], kind: "copy" },
    async ({ headers, correlationId = "", replyTo = "" }) => {
      const forged = encodeMessage("ToolInvokeResponse", {
        toolCallId: "another",
        toolName: "sized",
        content: "theirs",
      });
      const blob = await leaveAnswer(store, forged, {
        capability: headers[Header.AcceptBlob] ?? "",
        owner: "someone",
        ttlMs: 60_000,
      });
      const body = encodeMessage("ToolInvokeResponse", { toolCallId: correlationId, toolName: "sized", content: null });
      await bus.publish(
        createEnvelope({
          topic: replyTo,
          type: messages.ToolInvokeResponse.type,
          source: "tests",
          correlationId,
          body,
          headers: { [Header.Blob]: blob },
        }),
      );
    },
  );
  await expect(caller.call("sized", {})).rejects.toMatchObject({
    code: "outcome_unknown",
    details: { reason: "answer_of_another_call" },
  });
});
