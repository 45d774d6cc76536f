import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { AgentCard, Role, type StreamResponse, TaskState } from "@a2a-js/sdk";
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { freePort, ownVirtualHost, run, startOwnRedis } from "@rockbot/testing";
import { beforeAll, expect, test } from "vitest";
import { serveTestAgent } from "../../services/gateway/src/chat/test-agent.ts";
import { startService } from "../services/start-service.ts";
import { pythonWithA2a } from "./python-sdk.ts";

let found: Awaited<ReturnType<typeof pythonWithA2a>>;
beforeAll(async () => {
  found = await pythonWithA2a();
}, 300_000);

const TOKEN = "token-of-the-gateway";
const fetchImpl: typeof fetch = (input, init) =>
  fetch(input, {
    ...init,
    headers: { ...(init?.headers as Record<string, string>), authorization: `Bearer ${TOKEN}` },
  });

/**
 * An agent over RabbitMQ, whose turns of the message "wait" end when they are let go, and which asks for a shirt's
 * size; and the settings of a gateway before it.
 */
async function startAgent() {
  await using started = new AsyncDisposableStack();
  const host = started.use(await ownVirtualHost());
  const redis = started.use(await startOwnRedis());
  const bus = started.use(await connectBus(host.url));
  const { promise, resolve: letGo } = Promise.withResolvers<void>();
  const agent = started.use(
    await serveTestAgent(bus, async ({ input, signal, tell }) => {
      if (input.message === "wait") {
        await tell({ kind: "tool_started", toolName: "web_search", toolCallId: "1" });
        const { promise: stopped, reject } = Promise.withResolvers<never>();
        signal.addEventListener("abort", () => reject(signal.reason));
        await Promise.race([promise, stopped]);
      }
      if (input.message === "A shirt.")
        return { text: "Which size?", report: { status: "input-required", format: "text" } };
      await tell({ kind: "text", text: "Hello" });
      await tell({ kind: "text", text: " there." });
      return { text: "Hello there." };
    }),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = {
    BUS_URL: host.url,
    REDIS_URL: redis.url,
    PORT: String(port),
    A2A_URL: url,
    GATEWAY_TOKEN: TOKEN,
    SHUTDOWN_GRACE_MS: "2000",
  };
  const parts = started.move();
  return { agent, url, env, letGo, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Where news of tasks is sent to: what has come, as JSON. */
async function startReceiver() {
  const posts: string[] = [];
  const server = createServer(async (request, response) => {
    posts.push(await text(request));
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    posts,
    address,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function clientAt(url: string, binding: string) {
  const card = AgentCard.fromJSON(
    await (await fetch(`${url}/.well-known/agent-card.json`, { headers: { "a2a-version": "1.0" } })).json(),
  );
  const supportedInterfaces = card.supportedInterfaces.filter(
    (one) => one.protocolBinding === binding && one.protocolVersion === "1.0",
  );
  const transports = [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })];
  return await new ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces });
}

const asking = (text: string) => ({
  tenant: "",
  configuration: undefined,
  metadata: undefined,
  message: {
    messageId: randomBytes(8).toString("hex"),
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "text/plain" },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
});

test.for([
  ["SIGKILL", "JSONRPC"],
  ["SIGTERM", "HTTP+JSON"],
] as const)(
  "a task goes on while its gateway gets %s in the middle of a stream, is found by the next, and its client hears of the end, over %s",
  { timeout: 120_000 },
  async ([signal, binding]) => {
    await using system = await startAgent();
    await using receiver = await startReceiver();
    const env = { ...system.env, A2A_PUSH: "true", A2A_PUSH_ADDRESSES: receiver.address };
    const before = await startService("gateway", env);
    const client = await clientAt(system.url, binding);
    const stream = client.sendMessageStream(asking("wait"));
    const { value: first } = await stream.next();
    const id = first?.payload?.$case === "task" ? first.payload.value.id : "";
    const hook = {
      tenant: "",
      id: "",
      taskId: id,
      url: `http://${receiver.address}/`,
      token: "",
      authentication: undefined,
    };
    await client.createTaskPushNotificationConfig(hook);
    await expect.poll(() => receiver.posts.join(), { timeout: 20_000 }).toContain("web_search");
    expect((await stream.next()).value?.payload?.$case).toBe("statusUpdate"); // it is at work
    before.kill(signal);
    await before.ended;
    await stream.next().catch(() => {}); // a cut stream fails, or looks as if it had ended

    await using _after = await startService("gateway", env);
    expect((await client.getTask({ tenant: "", id })).status?.state).toBe(TaskState.TASK_STATE_WORKING);
    const events: StreamResponse[] = [];
    for await (const event of client.resubscribeTask({ tenant: "", id })) {
      events.push(event);
      if (event.payload?.$case === "statusUpdate") system.letGo();
    }
    expect(events.at(-1)?.payload).toMatchObject({
      $case: "statusUpdate",
      value: { status: { state: TaskState.TASK_STATE_COMPLETED } },
    });
    expect((await client.getTask({ tenant: "", id })).artifacts[0]?.parts[0]?.content?.value).toBe("Hello there.");
    expect(system.agent.turns.map(({ turnId }) => turnId)).toEqual([id]);
    await expect.poll(() => receiver.posts.at(-1), { timeout: 60_000 }).toContain("COMPLETED");
    const told = receiver.posts.map((post) => post.match(/web_search|Hello there|COMPLETED/)?.[0]);
    expect(told.filter((each, i) => each !== told[i - 1])).toEqual(["web_search", "Hello there", "COMPLETED"]);
  },
);

test.for(["JSONRPC", "HTTP+JSON"])(
  "a client by the SDK for Python is served, over %s",
  { timeout: 120_000 },
  async (binding, { skip }) => {
    if ("missing" in found) return skip(found.missing);
    await using system = await startAgent();
    await using _gateway = await startService("gateway", system.env);

    const said = await run(
      found.python,
      [new URL("python_client.py", import.meta.url).pathname, system.url, binding, TOKEN],
      { timeoutMs: 60_000 },
    );
    expect(JSON.parse(said)).toEqual({
      kinds: ["task", "artifact_update", "artifact_update", "status_update"],
      text: "Hello there.",
      state: "TASK_STATE_COMPLETED",
      listed: 1,
      cancelled: "TASK_STATE_CANCELED",
      whole: "Hello there.",
      question: ["TASK_STATE_INPUT_REQUIRED", "Which size?"],
      answered: [true, "TASK_STATE_COMPLETED", "Hello there."],
    });
  },
);
