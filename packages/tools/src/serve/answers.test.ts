import { registerSecret } from "@rockbot/base/redaction";
import { type Bus, createMemoryBus, silentLogger } from "@rockbot/bus";
import {
  createEnvelope,
  decodeMessage,
  type Envelope,
  MAX_DATA_DEPTH,
  messages,
  type ToolError,
} from "@rockbot/contracts";
import { expect, test } from "vitest";
import { createToolCaller, type ToolCaller } from "../call/tool-caller.ts";
import { announceTools } from "../discover/announce-tools.ts";
import { createIdentity } from "../messages/identity.ts";
import { testSet, testTool } from "../test-tools.ts";
import { serveTools } from "./serve-tools.ts";

/** No call of these tests may wait for it. */
const DEADLINE_MS = 60_000;

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
}

const itself: unknown[] = [];
itself.push(itself, itself);

const call = (caller: ToolCaller, name: string) =>
  caller.call(name, {}, { timeoutMs: DEADLINE_MS }).catch((error: ToolError) => error);

test.each([
  ["65 levels", nested(65), undefined],
  ["as many levels as are carried", nested(MAX_DATA_DEPTH - 5), undefined],
  [
    "keys that lead to prototypes",
    JSON.parse('{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}'),
    undefined,
  ],
  [
    "numbers that JSON has not",
    { a: [Number.POSITIVE_INFINITY, Number.NaN], b: 2n ** 64n },
    { a: ["Infinity", "NaN"], b: "18446744073709551616" },
  ],
])("a result with %s arrives", async (_what, structured, arrives = structured) => {
  await using bus = createMemoryBus();
  const tools = [true, false].map((readOnly) =>
    testTool(`read_${readOnly}`, async () => ({ content: "text", structured }), { readOnly }),
  );
  await using _service = await serveTools(bus, testSet(...tools), { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "agent" });
  for (const { definition } of tools) {
    const response = await caller.call(definition.name, {}, { timeoutMs: DEADLINE_MS });
    expect(JSON.stringify(response.structured)).toBe(JSON.stringify(arrives));
  }
  expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
});

test.each([
  ["refers to itself", itself],
  [`nests deeper than ${MAX_DATA_DEPTH} levels`, nested(MAX_DATA_DEPTH + 10)],
  ["nests", nested(100_000)],
])(
  "a result that cannot be carried, as it %s, ends its call at once, in words, and is not made again",
  async (why, structured) => {
    registerSecret("a-secret-to-look-for");
    await using bus = createMemoryBus();
    let runs = 0;
    const run = async () => {
      runs++;
      return { content: "text", structured };
    };
    await using _service = await serveTools(
      bus,
      testSet(testTool("acts", run), testTool("reads", run, { readOnly: true })),
      { service: "tests" },
    );
    await using caller = await createToolCaller(bus, { agent: "agent" });
    for (const name of ["acts", "reads"]) {
      expect(await call(caller, name)).toMatchObject({
        code: "execution_failed",
        isRetryable: false,
        message: expect.stringMatching(/"\w+" has run, and its result cannot be carried: it (nests|refers)/),
        details: { reason: "uncarriable", mayHaveRun: true },
      });
    }
    expect(runs).toBe(2);
    expect(why).toBeTruthy();
  },
);

test("arguments that cannot be carried are refused before they are sent", async () => {
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(testTool("echo", async (input) => JSON.stringify(input))), {
    service: "tests",
  });
  await using caller = await createToolCaller(bus, { agent: "agent" });
  await expect(caller.call("echo", itself)).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringContaining("refers to itself"),
  });
  await expect(caller.call("echo", '{"id":9007199254740993}')).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringContaining("the number 9007199254740993, which would become 9007199254740992"),
  });
});

/** A service of another make: whatever it gets, it answers with these bytes. */
async function startPeer(bus: Bus, answer: (toolCallId: string) => Partial<Envelope>): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const subscription = await bus.subscribe({ name: "peer", topics: ["tool.invoke.peer"] }, async (message) => {
    const request = decodeMessage("ToolInvokeRequest", message.body);
    if (!request.ok || message.replyTo === undefined) throw new Error("no request");
    const { type, correlationId } = { type: messages.ToolInvokeResponse.type, correlationId: message.correlationId };
    await bus.publish(
      createEnvelope({
        topic: message.replyTo,
        type,
        source: "peer",
        correlationId,
        body: Buffer.from(""),
        ...answer(request.value.toolCallId),
      }),
    );
  });
  stack.use(subscription);
  const tool = {
    name: "ask",
    description: "",
    parametersSchema: "{}",
    topic: "tool.invoke.peer",
    subscription: "peer",
  };
  stack.use(
    await announceTools(bus, {
      service: "peer",
      list: { tools: [tool], guides: [] },
      identity: createIdentity(bus, undefined),
      log: silentLogger,
    }),
  );
  return stack.move();
}

const { ToolError: Failure, ToolInvokeResponse: Response } = messages;

test.each<[string, string, string, RegExp]>([
  ["no JSON", Response.type, "not json", /not valid JSON/],
  ["nothing", Response.type, "", /not valid JSON/],
  ["no UTF-8", Response.type, "\u00ff", /not UTF-8/],
  [
    "a key that stands twice",
    Response.type,
    '{"toolCallId":"$ID","toolName":"ask","content":"a","content":"b"}',
    /same key twice/,
  ],
  [
    "100 000 levels",
    Response.type,
    `{"toolCallId":"$ID","toolName":"ask","structured":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    /nested deeper than 1000/,
  ],
  [
    "content that is no text",
    Response.type,
    '{"toolCallId":"$ID","toolName":"ask","content":{}}',
    /content: expected string or null, got an object/,
  ],
  [
    "an error whose code is a number",
    Failure.type,
    '{"toolCallId":"$ID","toolName":"ask","code":42,"message":"out of paper"}',
    /code: expected string.*It says: out of paper/,
  ],
  ["an error without words", Failure.type, '{"toolCallId":"$ID","toolName":"ask","code":"x"}', /message: is required/],
  [
    "an error that is half a millisecond early",
    Failure.type,
    '{"toolCallId":"$ID","toolName":"ask","code":"x","message":"m","retryAfterMs":0.5}',
    /retryAfterMs/,
  ],
  [
    "a type that is no answer",
    "Peer.Answer",
    '{"toolCallId":"$ID","toolName":"ask","content":"a"}',
    /"Peer.Answer" is no answer/,
  ],
])("an answer with %s ends its call at once, in words", async (_what, type, body, words) => {
  await using bus = createMemoryBus();
  await using _peer = await startPeer(bus, (id) => ({
    type,
    body: Buffer.from(body.replace("$ID", id), body === "\u00ff" ? "latin1" : "utf8"),
  }));
  await using caller = await createToolCaller(bus, { agent: "agent" });
  expect(await call(caller, "ask")).toMatchObject({
    code: "execution_failed",
    isRetryable: false,
    message: expect.stringMatching(words),
    details: { reason: expect.any(String), mayHaveRun: true },
  });
});

test("an answer's type may be written in any case, and its call be named in the body alone", async () => {
  await using bus = createMemoryBus();
  const body = (id: string) => Buffer.from(JSON.stringify({ toolCallId: id, toolName: "ask", content: "fine" }));
  await using _peer = await startPeer(bus, (id) => ({
    type: Response.type.toLowerCase(),
    correlationId: undefined,
    body: body(id),
  }));
  await using caller = await createToolCaller(bus, { agent: "agent" });
  expect(await call(caller, "ask")).toMatchObject({ content: "fine" });
});

test("a call that only answers of other calls came for does not end as one that was not answered", async () => {
  await using bus = createMemoryBus();
  await using _peer = await startPeer(bus, () => ({
    body: Buffer.from('{"toolCallId":"another","toolName":"ask","content":"a"}'),
  }));
  await using caller = await createToolCaller(bus, { agent: "agent" });
  await expect(caller.call("ask", {}, { timeoutMs: 200 })).rejects.toMatchObject({
    code: "outcome_unknown",
    isRetryable: false,
    details: { reason: "answer_of_another_call", mayHaveRun: true },
  });
});
