import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Validator } from "@rockbot/contracts";
import { type GatewayConfig, configSchema as gatewaySchema, startGateway } from "@rockbot/gateway";
import { loadConfig } from "@rockbot/process/config";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import { sharedRedisUrl } from "@rockbot/testing";
import { defineTool, serveTools } from "@rockbot/tools";
import { expect, onTestFinished, test } from "vitest";
import type { WaitingCalls } from "../../packages/console/src/api/types.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect, whoTool } from "./verified-system.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const tokens = (name: string) =>
  `tokens: [{ hash: "sha256:${createHash("sha256").update(`of-${name}`).digest("hex")}" }]`;
const POLICY = `
identity: verified
everyone: { allow: ["*"] }
callers: { researcher: { ${tokens("researcher")} }, writer: { ${tokens("writer")} } }
services: { echoes: { topic: tool.invoke.echoes, tools: ["echo_*"] } }
delegates: [gateway]
operators: [{ name: ada, ${tokens("ada")}, may: [decide] }]
approve: [{ tools: [echo_send], by: [ada] }]
`;
const COUNT = { type: "object", required: ["count"], properties: { count: { type: "integer", maximum: 100 } } };
const isCount = ((value: { count: number }) => value.count <= 100) as unknown as Validator<{ count: number }>;
const LONG = { timeout: 120_000 };
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const FORMS = { elicitation: { form: {} } };

interface Reply {
  readonly result: Readonly<Record<string, unknown>>;
  readonly error: { readonly code: number };
}

/** Two gateways before a service over RabbitMQ, with a tool that needs an approval, and one that asks how many. */
async function start() {
  const started = new AsyncDisposableStack();
  onTestFinished(() => started.disposeAsync());
  const broker = started.use(await verifiedHost(POLICY));
  const { policy } = broker;
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  const runs = started.use(await connectRedisRunStore(await sharedRedisUrl(), { prefix }));
  const done: string[] = [];
  const send = whoTool("echo_send", { hold: async () => void done.push("send") });
  const [{ definition }] = whoTool("echo_order").tools as [(typeof send.tools)[number]];
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
  const set = { ...send, tools: [...send.tools, order] };
  const options = { service: "echoes", policy, operatorKey: publicKey, runs, drainMs: 1 };
  started.use(await serveTools(await connect(broker, "echoes"), set, options));
  const gateways = await Promise.all(
    ["0", "1"].map(async (instance) => {
      const overrides = { port: 0, agentName: "gateway", instance };
      const config = loadConfig<GatewayConfig>(gatewaySchema, { env: {}, overrides });
      const bus = started.use(await connect(broker, "gateway"));
      return started.use(await startGateway(bus, config, { policy, commandKey: privateKey, runs }));
    }),
  );
  const fetchAs = async (by: string, at: number, path: string, body?: object, headers: Record<string, string> = {}) => {
    const named = { authorization: `Bearer of-${by}`, "content-type": "application/json", ...headers };
    const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return (await fetch(`${gateways[at]?.url}${path}`, { headers: named, ...post })).json() as Promise<object>;
  };
  /** A request of the newer era, to a gateway, by a client that can do so much. */
  const ask = async (method: string, params: Record<string, unknown>, { at = 0, by = "researcher", can = {} } = {}) => {
    const key = (name: string) => `io.modelcontextprotocol/${name}`;
    const _meta = {
      [key("protocolVersion")]: "2026-07-28",
      [key("clientInfo")]: { name: "raw", version: "1" },
      [key("clientCapabilities")]: can,
      ...(params["_meta"] as object | undefined),
    };
    const headers = {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": String(params["name"] ?? params["taskId"]),
    };
    const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } };
    return (await fetchAs(by, at, "/mcp", body, headers)) as Reply;
  };
  const one = async () => {
    const list = async () => (await fetchAs("ada", 1, "/operator/waiting")) as WaitingCalls;
    await expect.poll(async () => (await list()).calls.length, { timeout: 20_000 }).toBe(1);
    return (await list()).calls[0] as WaitingCalls["calls"][number];
  };
  const namesOf = async (at: number) => JSON.stringify(await fetchAs("writer", at, "/v1/tools"));
  for (const at of [0, 1]) await expect.poll(() => namesOf(at), { timeout: 30_000 }).toContain("echo_send");
  return {
    url: gateways[0]?.url,
    done,
    ask,
    one,
    approve: async () => {
      const { id, shown } = await one();
      return fetchAs("ada", 1, `/operator/waiting/${id}`, { verdict: "approve", shown });
    },
    answerAsOperator: async (value: object) => {
      const { id, question } = await one();
      return fetchAs("ada", 1, `/operator/waiting/${id}/answer`, { hash: question?.hash, value });
    },
    /** Asks with a form, and gives the answer of the person. */
    order: async (count: number, more: object = {}) => {
      const params = { name: "echo_order", arguments: { of: count } };
      const { result } = await ask("tools/call", params, { can: FORMS });
      expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
      const [key = ""] = Object.keys(result["inputRequests"] as object);
      const inputResponses = { [key]: { action: "accept", content: { count } } };
      return { ...params, requestState: result["requestState"], inputResponses, ...more };
    },
  };
}

test(
  "a call that waits for an approval is a task, which another gateway knows once its client has gone",
  LONG,
  async () => {
    const { ask, approve, done } = await start();
    const { result } = await ask("tools/call", { name: "echo_send", arguments: {} }, { can: TASKS });
    expect(result).toMatchObject({
      resultType: "task",
      status: "working",
      statusMessage: "waits for the approval of ada",
    });
    const { taskId } = result;
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
      const of = { taskId, inputResponses: {} };
      expect((await ask(method, of, { by: "writer", can: TASKS })).error.code).toBe(-32_602);
      expect((await ask(method, of)).error.code).toBe(-32_021);
    }
    // No answer of a client approves, whatever it is an answer to.
    const forged = {
      taskId,
      inputResponses: { undefined: { action: "accept", content: {} }, "undefined.0": { action: "accept" } },
    };
    expect((await ask("tasks/update", forged, { can: { ...TASKS, ...FORMS } })).result).toMatchObject({
      resultType: "complete",
    });
    expect(done).toEqual([]);
    expect(await approve()).toEqual({ state: "ready" });
    const look = async () => (await ask("tasks/get", { taskId }, { at: 1, can: TASKS })).result;
    await expect.poll(look, { timeout: 20_000 }).toMatchObject({ resultType: "complete", taskId, status: "completed" });
    expect(await look()).toMatchObject({ ttlMs: expect.any(Number), result: { content: [{ text: "researcher" }] } });
    expect(done).toEqual(["send"]);
  },
);

test("a task that is cancelled at another gateway never runs", LONG, async () => {
  const { ask, one, done } = await start();
  const { taskId } = (await ask("tools/call", { name: "echo_send" }, { can: TASKS })).result;
  await one();
  expect((await ask("tasks/cancel", { taskId }, { at: 1, can: TASKS })).result).toMatchObject({
    resultType: "complete",
  });
  const look = async () => (await ask("tasks/get", { taskId }, { can: TASKS })).result["status"];
  await expect.poll(look, { timeout: 20_000 }).toBe("cancelled");
  expect((await ask("tasks/cancel", { taskId }, { at: 1, can: TASKS })).error).toBeUndefined();
  expect(done).toEqual([]);
});

test("a detached call asks the person behind its client by its task, and takes one answer", LONG, async () => {
  const { ask, done } = await start();
  const can = { ...TASKS, ...FORMS };
  const _meta = { "rockbot/detached": true };
  const { taskId } = (await ask("tools/call", { name: "echo_order", _meta }, { can })).result;
  const look = async () => (await ask("tasks/get", { taskId }, { at: 1, can })).result;
  await expect.poll(look, { timeout: 20_000 }).toMatchObject({ status: "input_required" });
  const [key = ""] = Object.keys((await look())["inputRequests"] as object);
  expect(await look()).toMatchObject({
    inputRequests: { [key]: { params: { message: "echo_order asks: How many?" } } },
  });
  const answer = (count: number) => ({ taskId, inputResponses: { [key]: { action: "accept", content: { count } } } });
  expect((await ask("tasks/update", answer(1), { by: "writer", can })).error.code).toBe(-32_602);
  for (const count of [7, 8]) expect((await ask("tasks/update", answer(count), { at: 1, can })).error).toBeUndefined();
  await expect.poll(look, { timeout: 20_000 }).toMatchObject({ result: { content: [{ text: "ordered 7" }] } });
  expect(done).toEqual(["order 7"]);
});

test(
  "the SDK's client is asked by a form, and its person's answer, or that there is none, reaches the tool",
  LONG,
  async () => {
    const { url, done } = await start();
    const client = new Client(
      { name: "t", version: "1" },
      { capabilities: FORMS, versionNegotiation: { mode: "auto" } },
    );
    onTestFinished(() => client.close());
    const answers = [{ count: 500 }, { count: 5 }];
    const asked: unknown[] = [];
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      const content = answers.shift();
      return content === undefined ? { action: "decline" } : { action: "accept", content };
    });
    const requestInit = { headers: { authorization: "Bearer of-researcher" } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
    const call = () => client.callTool({ name: "echo_order", arguments: {} });
    expect(await call()).toMatchObject({ content: [{ text: "ordered 5" }] });
    expect(asked).toEqual(["echo_order asks: How many?", expect.stringContaining("\nNot as asked: ")]);
    expect(await call()).toMatchObject({
      isError: true,
      _meta: { "rockbot/error": { details: { reason: "declined" } } },
    });
    expect(done).toEqual(["order 5"]);
  },
);

test(
  "an answer counts once, for its caller and its call, at any gateway, and also operators may give it",
  LONG,
  async () => {
    const { ask, order, answerAsOperator, done } = await start();
    const can = FORMS;
    const answer = await order(3);
    for (const [wrong, by] of [
      [answer, "writer"],
      [{ ...answer, arguments: { of: 4 } }, "researcher"],
      [{ ...answer, requestState: `${answer.requestState}A` }, "researcher"],
    ] as const)
      expect((await ask("tools/call", wrong, { by, can })).error.code).toBe(-32_602);
    expect(done).toEqual([]);
    const { inputResponses: _, ...unanswered } = answer;
    expect((await ask("tools/call", unanswered, { can })).result).toMatchObject({ resultType: "input_required" });
    for (const at of [1, 0, 1])
      expect((await ask("tools/call", answer, { at, can })).result).toMatchObject({ content: [{ text: "ordered 3" }] });
    expect(done).toEqual(["order 3"]);

    const late = await order(4);
    expect(await answerAsOperator({ count: 40 })).toEqual({ state: "ready" }); // its client may never come back
    await expect.poll(() => done, { timeout: 20_000 }).toContain("order 40");
    expect((await ask("tools/call", late, { can })).result).toMatchObject({ content: [{ text: "ordered 40" }] });
    expect(done).toEqual(["order 3", "order 40"]);

    const stale = await order(600);
    const again = (await ask("tools/call", stale, { can })).result;
    expect(again).toMatchObject({ resultType: "input_required", inputRequests: expect.any(Object) });
    expect((await ask("tools/call", stale, { at: 1, can })).result).toMatchObject({
      inputRequests: again["inputRequests"],
    });
  },
);
