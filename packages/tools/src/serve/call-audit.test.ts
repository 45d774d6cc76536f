import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryBus } from "@rockbot/bus";
import { createEnvelope, encodeMessage, messages, newId, ToolError } from "@rockbot/contracts";
import { createAuditKey, openAuditLog, verifyAudit } from "@rockbot/records/audit";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { aborted, testSet, testTool } from "../test-tools.ts";
import { type ServeToolsOptions, serveTools } from "./serve-tools.ts";

const WAIT = { timeout: 15_000 };
const CALLS = 200;
const KEY = "a key that replicas share";

/** A service whose calls are audited in a file, and one who calls it. */
async function startAudited(options: Partial<ServeToolsOptions> = {}, link?: string) {
  const folder = mkdtempSync(join(tmpdir(), "rockbot-call-audit-"));
  const file = join(folder, "audit.jsonl");
  if (link !== undefined) symlinkSync(link, file);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const bus = stack.use(createMemoryBus());
  const audit = stack.use(await openAuditLog(file, { key: KEY }));
  const tools = [
    testTool("echo", async (input) => JSON.stringify(input)),
    testTool("refuse", async () => {
      throw new ToolError("denied", "Cannot do it: it is not allowed");
    }),
    testTool("sad", async () => ({ content: "It did not work.", isError: true })),
    testTool("wait", async (_, { signal }) => {
      await aborted(signal);
      throw signal.reason;
    }),
    testTool("large", async () => "x".repeat(9 * 1024 * 1024)),
  ];
  stack.use(await serveTools(bus, testSet(...tools), { service: "tests", audit, ...options }));
  const caller = stack.use(await createToolCaller(bus, { agent: "somebody" }));
  await caller.discovered();
  const parts = stack.move();
  return {
    bus,
    audit,
    caller,
    file,
    lines: () =>
      readFileSync(file, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("the line of a call says whether untrusted content led to it", async () => {
  await using scene = await startAudited();
  await scene.caller.call("echo", {}, { hasReadUntrusted: true });
  await scene.caller.call("echo", {});
  expect(scene.lines().map((line) => line["hasReadUntrusted"])).toEqual([true, undefined]);
});

test("each call has its line before its answer is known: who, which tool, a hash of the arguments, and what became of it", async () => {
  await using service = await startAudited();
  const { caller, lines } = service;
  const outcome = (name: string, args: object | string = {}) =>
    caller.call(name, args).catch((error: unknown) => error);
  await outcome("echo", { canary: 1 });
  expect(lines()).toHaveLength(1);
  for (const name of ["refuse", "sad", "large"]) await outcome(name);
  await outcome("echo", "[1]");

  expect(lines()).toMatchObject([
    {
      seq: 1,
      service: "tests",
      caller: "somebody",
      tool: "echo",
      toolCallId: expect.stringMatching(/^[0-9a-f]{32}$/),
      arguments: createAuditKey(KEY).hash('{"canary":1}'),
      decision: "allowed",
      policy: "default",
      outcome: "ok",
      durationMs: expect.any(Number),
    },
    { tool: "refuse", outcome: "denied" },
    { tool: "sad", outcome: "tool_error" },
    { tool: "large", outcome: "too_large" },
    { tool: "echo", outcome: "invalid_arguments" },
  ]);
  expect(readFileSync(service.file, "utf8")).not.toContain("canary");
});

test.each<[string, string]>([
  ["a line separator", "\u2028"],
  ["a paragraph separator", "\u2029"],
  ["a next line", "\u0085"],
  ["a line break", "\n"],
  ["half a pair", "\ud800"],
  ["a null", "\u0000"],
  ["64 KiB", "x".repeat(65_536)],
  ["64 Ki of line separators", "\u2028".repeat(65_536)],
])("a tool's name with %s breaks no chain, and stops no start", async (_, text) => {
  await using service = await startAudited();
  await service.caller.call(`lab__echo${text}`, {}).catch(() => {});
  const body = encodeMessage("ToolInvokeRequest", {
    toolCallId: `a${text}`,
    toolName: `lab__echo${text}`,
    arguments: null,
    sessionId: null,
  });
  const type = messages.ToolInvokeRequest.type;
  await service.bus.publish(
    createEnvelope({ topic: "tool.invoke.tests", type, source: "stranger", body, replyTo: "tool.result.stranger" }),
  );
  await expect.poll(() => service.lines().length, WAIT).toBe(1);
  await service.audit[Symbol.asyncDispose]();

  expect(await verifyAudit([service.file])).toMatchObject({ faults: [], head: { seq: 1 } });
  await using again = await openAuditLog(service.file);
  expect(again.isWriting).toBe(true);
});

test("calls that nobody is answered, that are not there, and that are given up have their lines, too", async () => {
  await using service = await startAudited();
  const { bus, caller, lines } = service;
  const publish = (body: Uint8Array, replyTo: string) =>
    bus.publish(
      createEnvelope({
        topic: "tool.invoke.tests",
        type: messages.ToolInvokeRequest.type,
        source: "stranger",
        body,
        replyTo,
      }),
    );
  await publish(Buffer.from("no JSON"), "tool.result.stranger");
  await publish(
    encodeMessage("ToolInvokeRequest", { toolCallId: "a", toolName: "nothing", arguments: null, sessionId: null }),
    "tool.result.stranger",
  );
  await publish(
    encodeMessage("ToolInvokeRequest", { toolCallId: "b", toolName: "echo", arguments: null, sessionId: null }),
    "no.topic.for.results",
  );
  await expect.poll(() => lines().length, WAIT).toBe(3);
  const cancel = new AbortController();
  const waiting = caller.call("wait", {}, { signal: cancel.signal }).catch(() => {});
  await expect.poll(async () => (await bus.inspect("tests"))?.messages, WAIT).toBe(0);
  cancel.abort();
  await waiting;
  await expect.poll(() => lines().length, WAIT).toBe(4);

  const byTool = new Map(lines().map((line) => [line["toolCallId"], line]));
  expect([...byTool.values()]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        tool: "unknown",
        caller: "stranger",
        outcome: "invalid_arguments",
        arguments: createAuditKey(KEY).hash("no JSON"),
      }),
      expect.objectContaining({ tool: "nothing", outcome: "tool_not_found" }),
      expect.objectContaining({ tool: "echo", outcome: "dead_lettered" }),
      expect.objectContaining({
        tool: "wait",
        caller: "somebody",
        outcome: expect.stringMatching(/^(cancelled|superseded)$/),
      }),
    ]),
  );
});

test(`of ${CALLS} calls at once none is missing, and the chain is whole`, async () => {
  await using service = await startAudited();
  const ids = Array.from({ length: CALLS }, () => newId());
  await Promise.all(
    ids.map((toolCallId, index) => service.caller.call(index % 2 === 0 ? "echo" : "sad", {}, { toolCallId })),
  );

  expect(new Set(service.lines().map(({ toolCallId }) => toolCallId))).toEqual(new Set(ids));
  expect(await verifyAudit([service.file])).toMatchObject({ faults: [], head: { seq: CALLS } });
});

// Linux alone has /dev/full, which takes no byte.
test.skipIf(!existsSync("/dev/full"))(
  "while no line can be written calls go on; where the log is required they are refused, and not started",
  async () => {
    await using free = await startAudited({}, "/dev/full");
    await using strict = await startAudited({ isAuditRequired: true }, "/dev/full");
    for (const { caller } of [free, strict]) await caller.call("echo", {}); // the first of all finds out

    await expect(free.caller.call("echo", {})).resolves.toMatchObject({ content: "{}" });
    await expect(strict.caller.call("echo", {})).rejects.toMatchObject({
      code: "unavailable",
      isRetryable: true,
      message: expect.stringContaining("not started"),
    });
  },
);
