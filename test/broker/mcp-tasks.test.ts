import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Validator } from "@rockbot/contracts";
import { defineTool } from "@rockbot/tools";
import { expect, onTestFinished, test } from "vitest";
import { startAsking, tokensOf } from "./asking-system.ts";
import { whoTool } from "./verified-system.ts";

const POLICY = `
identity: verified
everyone: { allow: ["*"] }
callers: { researcher: { ${tokensOf("researcher")} }, writer: { ${tokensOf("writer")} } }
services: { echoes: { topic: tool.invoke.echoes, tools: ["echo_*"] } }
delegates: [gateway]
operators: [{ name: ada, ${tokensOf("ada")}, may: [decide] }]
approve: [{ tools: [echo_send], by: [ada] }]
`;
const COUNT = { type: "object", required: ["count"], properties: { count: { type: "integer", maximum: 100 } } };
const isCount = ((value: { count: number }) => value.count <= 100) as unknown as Validator<{ count: number }>;
const LONG = { timeout: 120_000 };
const SOON = { timeout: 20_000 };
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const FORMS = { elicitation: { form: {} } };
const META = "io.modelcontextprotocol";

interface Reply {
  readonly result: Readonly<Record<string, unknown>>;
  readonly error: { readonly code: number };
}

/** Two gateways before a tool that needs an approval, and one that asks how many. */
async function start() {
  const done: string[] = [];
  const approved = whoTool("echo_send", { hold: async () => void done.push("send") });
  const [{ definition }] = whoTool("echo_order").tools as [(typeof approved.tools)[number]];
  const order = defineTool(
    definition,
    async (_, { ask, begins }) => {
      const { count } = await ask({ message: "How many?", schema: COUNT, validate: isCount });
      begins();
      done.push(`order ${count}`);
      return `ordered ${count}`;
    },
    { asks: true },
  );
  const set = { ...approved, tools: [...approved.tools, order] };
  const system = await startAsking(POLICY, set, { services: 1, gateways: 2 });
  onTestFinished(() => system[Symbol.asyncDispose]());
  for (const at of [0, 1]) {
    const names = async () => JSON.stringify(await system.send("/v1/tools", "writer", undefined, { at }));
    await expect.poll(names, { timeout: 30_000 }).toContain("echo_send");
  }
  /** A request of the newer era, by a client that can do so much. */
  const ask = async (method: string, params: Record<string, unknown>, { at = 0, by = "researcher", can = {} } = {}) => {
    const _meta = {
      [`${META}/protocolVersion`]: "2026-07-28",
      [`${META}/clientInfo`]: { name: "raw", version: "1" },
      [`${META}/clientCapabilities`]: can,
      ...(params["_meta"] as object | undefined),
    };
    const headers = {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": String(params["name"] ?? params["taskId"]),
    };
    const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } };
    return (await system.send("/mcp", by, body, { at, headers }))[1] as Reply;
  };
  /** The request with which a client that was asked how many says it. */
  const say = async (count: number) => {
    const params = { name: "echo_order", arguments: { of: count } };
    const { result } = await ask("tools/call", params, { can: FORMS });
    expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
    const [key = ""] = Object.keys(result["inputRequests"] as object);
    const inputResponses = { [key]: { action: "accept", content: { count } } };
    return { ...params, requestState: result["requestState"], inputResponses };
  };
  return { ...system, done, ask, order: say };
}

test("a call that waits for an approval is a task, at any gateway, for its caller alone", LONG, async () => {
  const { ask, one, decide, done } = await start();
  const { result } = await ask("tools/call", { name: "echo_send", arguments: {} }, { can: TASKS });
  const statusMessage = "waits for the approval of ada";
  expect(result).toMatchObject({ resultType: "task", status: "working", statusMessage });
  const { taskId } = result;
  for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
    const of = { taskId, inputResponses: {} };
    expect((await ask(method, of, { by: "writer", can: TASKS })).error.code).toBe(-32_602);
    expect((await ask(method, of)).error.code).toBe(-32_021);
  }
  // No answer of a client approves, whatever it is an answer to.
  const yes = { action: "accept", content: {} };
  const forged = { taskId, inputResponses: { "": yes, undefined: yes, "undefined.0": yes } };
  expect((await ask("tasks/update", forged, { can: { ...TASKS, ...FORMS } })).error).toBeUndefined();
  expect(done).toEqual([]);
  expect(await decide("ada", await one(), "approve")).toEqual([200, { state: "ready" }]);
  const look = async () => (await ask("tasks/get", { taskId }, { at: 1, can: TASKS })).result;
  await expect.poll(look, SOON).toMatchObject({ resultType: "complete", taskId, status: "completed" });
  expect(await look()).toMatchObject({ ttlMs: expect.any(Number), result: { content: [{ text: "researcher" }] } });
  expect(done).toEqual(["send"]);
});

test("a task that is cancelled at another gateway never runs", LONG, async () => {
  const { ask, done } = await start();
  const { taskId } = (await ask("tools/call", { name: "echo_send" }, { can: TASKS })).result;
  const cancel = () => ask("tasks/cancel", { taskId }, { at: 1, can: TASKS });
  expect((await cancel()).result).toMatchObject({ resultType: "complete" });
  const look = async () => (await ask("tasks/get", { taskId }, { can: TASKS })).result["status"];
  await expect.poll(look, SOON).toBe("cancelled");
  expect((await cancel()).error).toBeUndefined();
  expect(done).toEqual([]);
});

test("a detached call asks the person behind its client by its task, and takes one answer", LONG, async () => {
  const { ask, done } = await start();
  const can = { ...TASKS, ...FORMS };
  const _meta = { "rockbot/detached": true };
  const { taskId } = (await ask("tools/call", { name: "echo_order", _meta }, { can })).result;
  const look = async () => (await ask("tasks/get", { taskId }, { at: 1, can })).result;
  await expect.poll(look, SOON).toMatchObject({ status: "input_required" });
  const [[key, form] = []] = Object.entries((await look())["inputRequests"] as object);
  expect(form).toMatchObject({ params: { message: "echo_order asks: How many?", requestedSchema: COUNT } });
  const answer = (count: number) => ({
    taskId,
    inputResponses: { [`${key}`]: { action: "accept", content: { count } } },
  });
  expect((await ask("tasks/update", answer(1), { by: "writer", can })).error.code).toBe(-32_602);
  for (const given of [{}, { count: 7 }, { action: "approve" }, { action: "accept", content: [7] }]) {
    const of = { taskId, inputResponses: { [`${key}`]: given } };
    expect((await ask("tasks/update", of, { can })).error.code).toBe(-32_602);
  }
  for (const count of [7, 8]) expect((await ask("tasks/update", answer(count), { can })).error).toBeUndefined();
  await expect.poll(look, SOON).toMatchObject({ result: { content: [{ text: "ordered 7" }] } });
  expect(done).toEqual(["order 7"]);
});

test("the SDK's client asks its person by a form, who answers, or does not want to", LONG, async () => {
  const { urls, done } = await start();
  const client = new Client({ name: "t", version: "1" }, { capabilities: FORMS, versionNegotiation: { mode: "auto" } });
  onTestFinished(() => client.close());
  const answers = [{ count: 500 }, { count: 5 }];
  const asked: string[] = [];
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push(params.message);
    const content = answers.shift();
    return content === undefined ? { action: "decline" } : { action: "accept", content };
  });
  const requestInit = { headers: { authorization: "Bearer of-researcher" } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${urls[0]}/mcp`), { requestInit }));
  const call = () => client.callTool({ name: "echo_order", arguments: {} });
  expect(await call()).toMatchObject({ content: [{ text: "ordered 5" }] });
  expect(asked).toEqual(["echo_order asks: How many?", expect.stringContaining("\nNot as asked: ")]);
  const declined = { "rockbot/error": { code: "denied", details: { reason: "declined" } } };
  expect(await call()).toMatchObject({ isError: true, _meta: declined });
  expect(done).toEqual(["order 5"]);
});

test("an answer counts once, for its caller and call, at any gateway; operators may be first", LONG, async () => {
  const { ask, order, one, send, done } = await start();
  const can = FORMS;
  const answer = await order(3);
  for (const [wrong, by] of [
    [answer, "writer"],
    [{ ...answer, arguments: { of: 4 } }, "researcher"],
    [{ ...answer, requestState: `${answer.requestState}A` }, "researcher"],
  ] as const)
    expect((await ask("tools/call", wrong, { by, can })).error.code).toBe(-32_602);
  const unanswered = { ...answer, inputResponses: {} };
  expect((await ask("tools/call", unanswered, { can })).result).toMatchObject({ resultType: "input_required" });
  expect(done).toEqual([]);
  for (const at of [1, 0, 1])
    expect((await ask("tools/call", answer, { at, can })).result).toMatchObject({ content: [{ text: "ordered 3" }] });
  expect(done).toEqual(["order 3"]);

  const late = await order(4); // its client may never come back
  const { id, question } = await one();
  await send(`/operator/waiting/${id}/answer`, "ada", { hash: question?.hash, value: { count: 40 } });
  await expect.poll(() => done, SOON).toContain("order 40");
  expect((await ask("tools/call", late, { can })).result).toMatchObject({ content: [{ text: "ordered 40" }] });
  expect(done).toEqual(["order 3", "order 40"]);

  const stale = await order(600);
  const { inputRequests } = (await ask("tools/call", stale, { can })).result;
  expect(Object.keys(inputRequests as object)).not.toEqual(Object.keys(stale.inputResponses));
  expect((await ask("tools/call", stale, { at: 1, can })).result).toMatchObject({ inputRequests });
});
