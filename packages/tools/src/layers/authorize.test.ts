import { createMemoryBus } from "@rockbot/bus";
import { expect, test } from "vitest";
import { createToolCaller, type ToolCaller } from "../call/tool-caller.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { testPolicy, testSet, testTool } from "../test-tools.ts";

const echo = (name: string, promises = {}) => testTool(name, async () => name, promises);

test("who may not use a tool is refused by its service, whatever the caller's side says", async () => {
  const policy = await testPolicy("callers: { reader: { allow: [file_read] }, writer: { allow: ['file_*'] } }");
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(echo("file_read"), echo("file_write")), { service: "files", policy });
  await using reader = await createToolCaller(bus, { agent: "reader" }); // knows no policy
  await using writer = await createToolCaller(bus, { agent: "writer" });
  await expect(reader.call("file_write", {})).rejects.toMatchObject({
    code: "denied",
    isRetryable: false,
    message: '"reader" may not use "file_write": the policy forbids it. Do without it; calling again changes nothing.',
    details: { reason: "policy", revision: policy.current().revision },
  });
  expect(await reader.call("file_read", {})).toMatchObject({ content: "file_read" });
  expect(await writer.call("file_write", {})).toMatchObject({ content: "file_write" });
});

test("who is not named, and whom no list allows anything, is refused where there is a policy", async () => {
  const policy = await testPolicy("callers: { reader: { allow: [file_read] }, idle: { limits: { inFlight: 1 } } }");
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(echo("file_read")), { service: "files", policy });
  for (const agent of ["stranger", "idle"]) {
    await using caller = await createToolCaller(bus, { agent });
    await expect(caller.call("file_read", {})).rejects.toMatchObject({ code: "denied" });
  }
});

test("without a policy dangerous tools are refused, and no others", async () => {
  await using bus = createMemoryBus();
  const set = testSet(echo("bash"), echo("launch", { dangerous: true }), echo("safe"));
  await using _service = await serveTools(bus, set, { service: "tools" });
  await using caller = await createToolCaller(bus, { agent: "anybody" });
  for (const name of ["bash", "launch"]) await expect(caller.call(name, {})).rejects.toMatchObject({ code: "denied" });
  expect(await caller.call("safe", {})).toMatchObject({ content: "safe" });
});

test("a caller that knows the policy lists what it may use, and sends nothing that it may not", async () => {
  const policy = await testPolicy("callers: { reader: { allow: [file_read] }, other: { allow: ['*'] } }");
  await using bus = createMemoryBus();
  let calls = 0;
  const count = testTool("file_write", async () => String(++calls));
  await using _service = await serveTools(bus, testSet(echo("file_read"), count, echo("launch", { dangerous: true })), { service: "files" }); // refuses nobody but the last
  const names = ({ tools }: ToolCaller) => tools.getTools().map(({ name }) => name);
  await using reader = await createToolCaller(bus, { agent: "reader", policy });
  await using other = await createToolCaller(bus, { agent: "other", policy });
  await Promise.all([reader.discovered(), other.discovered()]);
  expect(names(reader)).toEqual(["file_read", "get_tool_guide", "list_tool_guides"]);
  expect(names(other)).toEqual(["file_read", "file_write", "get_tool_guide", "list_tool_guides"]);
  expect(reader.tools.getTools()).toBe(reader.tools.getTools());
  await expect(reader.call("file_write", {})).rejects.toMatchObject({ code: "denied" });
  expect(await reader.call("list_tool_guides", {})).toMatchObject({ content: expect.stringContaining("tests") });
  expect(calls).toBe(0);
});

test("a call has the time that the policy gives it", async () => {
  const policy = await testPolicy("everyone: { allow: ['*'], rules: [{ tools: [slow], timeoutMs: 50 }] }");
  await using bus = createMemoryBus();
  const slow = testTool("slow", () => new Promise<string>(() => {}));
  await using _service = await serveTools(bus, testSet(slow), { service: "slow", policy, drainMs: 10 });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  const start = performance.now();
  await expect(caller.call("slow", {})).rejects.toMatchObject({ code: "timeout" });
  expect(performance.now() - start).toBeLessThan(30_000); // a minute without the policy
});

test("a tool that calls itself ends at the depth that the policy gives, however it goes about", async () => {
  const policy = await testPolicy("everyone: { allow: ['*'], limits: { depth: 5 } }");
  await using bus = createMemoryBus();
  await using inner = await createToolCaller(bus, { agent: "loops" });
  let runs = 0;
  const next = (name: string, to: string) =>
    testTool(name, async (_, context) => {
      runs++;
      return (await inner.call(to, {}, { parent: context })).content ?? "";
    });
  await using _service = await serveTools(bus, testSet(next("ping", "pong"), next("pong", "ping")), { service: "loops", policy });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  await expect(caller.call("ping", {})).rejects.toMatchObject({ code: "denied", details: { reason: "too_deep", depth: 6 } });
  expect(runs).toBe(6);
});

test("calls say which revision of the policy decided them", async () => {
  const policy = await testPolicy("callers: { caller: { allow: [yes] } }");
  const { revision } = policy.current();
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(echo("yes"), echo("no")), { service: "tools", policy });
  await using caller = await createToolCaller(bus, { agent: "caller" });
  await caller.call("yes", {}, { toolCallId: "allowed" });
  await caller.call("no", {}, { toolCallId: "refused" }).catch(() => {});
  for (const id of ["allowed", "refused"]) expect(await caller.journal.find(id)).toMatchObject({ policy: revision });
});
