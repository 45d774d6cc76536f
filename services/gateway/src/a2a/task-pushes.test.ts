import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { AgentCard, Role } from "@a2a-js/sdk";
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { createMemoryTaskStore, hookOf } from "@rockbot/a2a/serve";
import { createMemoryBus } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { freePort } from "@rockbot/testing";
import { expect, test, vi } from "vitest";
import { serveTestAgent } from "../chat/test-agent.ts";
import { startGateway } from "../gateway.ts";
import { check, configSchema } from "../settings.ts";
import { startTestGateway } from "../test-gateway.ts";

interface Post {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, never>;
}

/** A receiver of news: what it got, and how it answers. */
async function startReceiver(statusOf: (posts: number) => number | Promise<number> = () => 200) {
  const posts: Post[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    posts.push({ headers: request.headers, body: (await json(request)) as Post["body"] });
    response.writeHead(await statusOf(posts.length)).end();
  }).on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    posts,
    address,
    url: `http://${address}/news`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function startSystem(a2aPushAddresses: string[], a2aPush = true) {
  await using started = new AsyncDisposableStack();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const gateway = started.use(await startTestGateway({ port, a2aUrl: url, a2aPush, a2aPushAddresses }));
  const go = Promise.withResolvers<void>();
  started.use(
    await serveTestAgent(gateway.bus, async ({ tell }) => {
      await tell({ kind: "tool_started", toolName: "one", toolCallId: "1" });
      await go.promise;
      await tell({ kind: "tool_started", toolName: "two", toolCallId: "2" });
      return { text: "Done." };
    }),
  );
  const parts = started.move();
  return { url, letGo: go.resolve, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function clientOf(url: string, binding: string, version = "1.0"): Promise<Client> {
  const options = { legacyCompat: { enabled: true } };
  const card = AgentCard.fromJSON(
    await (await fetch(`${url}/.well-known/agent-card.json`, { headers: { "a2a-version": "1.0" } })).json(),
  );
  const supportedInterfaces = card.supportedInterfaces.filter(
    (one) => one.protocolBinding === binding && one.protocolVersion === version,
  );
  return await new ClientFactory({
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
  }).createFromAgentCard({
    ...card,
    supportedInterfaces,
  });
}

const push = (url: string, more: object = {}) => ({
  tenant: "",
  id: "",
  taskId: "",
  url,
  token: "",
  authentication: undefined,
  ...more,
});
const send = (taskPushNotificationConfig: ReturnType<typeof push> | undefined) => ({
  tenant: "",
  metadata: undefined,
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig, returnImmediately: true },
  message: {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: "text" as const, value: "Go" }, metadata: undefined, filename: "", mediaType: "text/plain" },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
});
const taskIn = (result: object): string => (result as { readonly id: string }).id;

const ways = (["JSONRPC", "HTTP+JSON"] as const).flatMap((binding) =>
  (["1.0", "0.3"] as const).map((version) => ({ binding, version })),
);

test.each(ways)(
  "configs are made, read, listed and deleted, and each step is sent in order, by $binding of A2A $version",
  async ({ binding, version }) => {
    await using receiver = await startReceiver((posts) => (posts === 1 ? 503 : 200));
    await using system = await startSystem([receiver.address]);
    const client = await clientOf(system.url, binding, version);

    const secrets = { token: "its-token", authentication: { scheme: "Bearer", credentials: "its-secret" } };
    const taskId = taskIn(await client.sendMessage(send(push(receiver.url, secrets))));
    await client.createTaskPushNotificationConfig(push(receiver.url, { taskId, id: "other" }));
    const { configs } = await client.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 0, pageToken: "" });
    expect(configs.map(({ id }) => id).sort()).toEqual([taskId, "other"].sort());
    await client.deleteTaskPushNotificationConfig({ tenant: "", taskId, id: "other" });
    expect(await client.getTaskPushNotificationConfig({ tenant: "", taskId, id: taskId })).toMatchObject({
      url: receiver.url,
      token: "its-token",
    });
    await expect(client.getTaskPushNotificationConfig({ tenant: "", taskId, id: "other" })).rejects.toThrow();
    system.letGo();

    const own = () => receiver.posts.filter(({ headers }) => headers["x-a2a-notification-token"] === "its-token");
    await expect.poll(() => JSON.stringify(own().at(-1)?.body), { timeout: 20_000 }).toMatch(/completed/i);
    const told = own().map(({ body }) =>
      JSON.stringify(body)
        .match(/Calling one|Calling two|Done\.|completed/i)?.[0]
        .toLowerCase(),
    );
    expect(told.filter((each, i) => each !== told[i - 1])).toEqual([
      "calling one",
      "calling two",
      "done.",
      expect.stringMatching("completed"),
    ]);
    expect(own().every(({ headers }) => headers.authorization === "Bearer its-secret")).toBe(true);
  },
);

/**
 * Gateways on one bus with one store of tasks, and an agent that waits between its two calls, or does what the script
 * says.
 */
async function startSystemOfMany(receiverAddress: string, script?: Parameters<typeof serveTestAgent>[1]) {
  await using started = new AsyncDisposableStack();
  const bus = started.use(createMemoryBus());
  const tasks = started.use(createMemoryTaskStore());
  const go = Promise.withResolvers<void>();
  started.use(
    await serveTestAgent(
      bus,
      script ??
        (async ({ tell }) => {
          await tell({ kind: "tool_started", toolName: "one", toolCallId: "1" });
          await go.promise;
          await tell({ kind: "tool_started", toolName: "two", toolCallId: "2" });
          return { text: "Done." };
        }),
    ),
  );
  const parts = started.move();
  return {
    tasks,
    letGo: go.resolve,
    async startOne() {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const overrides = { port, a2aUrl: url, a2aPush: true, a2aPushAddresses: [receiverAddress] };
      const gateway = await startGateway(bus, loadConfig(configSchema, { env: {}, overrides, check }), { tasks });
      return { url, [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose]() };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("news of a question is sent once, also if its gateway stops before it knows, and that of its answer behind it by the next", async () => {
  const taken = Promise.withResolvers<number>();
  await using receiver = await startReceiver((posts) => (posts === 1 ? taken.promise : 200));
  await using system = await startSystemOfMany(receiver.address, async ({ input, tell }) => {
    if (input.message === "Go") return { text: "Where?", report: { status: "input-required", format: "text" } };
    await tell({ kind: "tool_started", toolName: "two", toolCallId: "2" });
    return { text: "Done." };
  });
  const told = () =>
    receiver.posts.map(({ body }) => JSON.stringify(body).match(/INPUT_REQUIRED|Calling two|Done\.|COMPLETED/)?.[0]);
  const before = await system.startOne();
  const client = await clientOf(before.url, "JSONRPC");
  const taskId = taskIn(await client.sendMessage(send(push(receiver.url))));
  await expect.poll(told, { timeout: 20_000 }).toEqual(["INPUT_REQUIRED"]);
  const stopped = before[Symbol.asyncDispose](); // its news has arrived, and it does not know that yet
  taken.resolve(200);
  await stopped;

  await using after = await system.startOne();
  const question = send(undefined);
  const there = [
    { ...question.message.parts[0], content: { $case: "text" as const, value: "There" } },
  ] as typeof question.message.parts;
  await (await clientOf(after.url, "JSONRPC")).sendMessage({
    ...question,
    message: { ...question.message, parts: there, taskId },
  });
  await expect.poll(told, { timeout: 30_000 }).toContain("COMPLETED");
  expect(told()).toEqual(["INPUT_REQUIRED", "Calling two", "Done.", "COMPLETED"]);
});

test("the texts of a task that waits are not read again and again for its hook", async () => {
  await using receiver = await startReceiver();
  await using system = await startSystemOfMany(receiver.address, async () => ({
    text: "Where?",
    report: { status: "input-required", format: "text" },
  }));
  const looks = vi.spyOn(system.tasks, "hooked");
  const reads = vi.spyOn(system.tasks, "read");
  await using gateway = await system.startOne();
  await (await clientOf(gateway.url, "JSONRPC")).sendMessage(send(push(receiver.url)));
  await expect.poll(() => JSON.stringify(receiver.posts), { timeout: 20_000 }).toContain("INPUT_REQUIRED");
  const lookMore = async (times: number) => {
    const from = looks.mock.calls.length;
    await expect.poll(() => looks.mock.calls.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(from + times);
  };
  await lookMore(2);
  const readBefore = reads.mock.calls.length;
  await lookMore(2);
  expect(reads.mock.calls.length).toBe(readBefore);
});

const toldIn = (posts: readonly Post[]) =>
  posts.map(({ body }) => JSON.stringify(body).match(/Calling one|Calling two|Done\.|COMPLETED/)?.[0]);

test("of two gateways one sends the news of a task", async () => {
  const taken = Promise.withResolvers<number>();
  await using receiver = await startReceiver((posts) => (posts === 1 ? taken.promise : 200));
  await using system = await startSystemOfMany(receiver.address);
  await using first = await system.startOne();
  const id = taskIn(await (await clientOf(first.url, "JSONRPC")).sendMessage(send(push(receiver.url))));
  await expect.poll(() => JSON.stringify(receiver.posts), { timeout: 20_000 }).toContain("Calling one");
  await using second = await system.startOne();
  system.letGo();
  const client = await clientOf(second.url, "JSONRPC");
  await expect.poll(async () => JSON.stringify(await client.getTask({ tenant: "", id }))).toContain("Done.");
  taken.resolve(200); // the first gateway has not noted the first step until now

  await expect.poll(() => JSON.stringify(receiver.posts.at(-1)), { timeout: 30_000 }).toContain("COMPLETED");
  expect(toldIn(receiver.posts)).toEqual(["Calling one", "Calling two", "Done.", "COMPLETED"]);
});

test("a gateway that runs already sends on what another leaves that dies", async () => {
  await using receiver = await startReceiver();
  await using system = await startSystemOfMany(receiver.address);
  await using gateway = await system.startOne();
  await (await clientOf(gateway.url, "JSONRPC")).sendMessage(send(undefined));
  const [task] = await system.tasks.open();
  if (task === undefined) throw new Error("The task is not in the store");
  await system.tasks.writeHook(hookOf(task, push(receiver.url), "1.0")); // by a gateway that is gone
  await expect.poll(() => JSON.stringify(receiver.posts), { timeout: 20_000 }).toContain("Calling one");
  system.letGo();
  await expect.poll(() => JSON.stringify(receiver.posts.at(-1)), { timeout: 20_000 }).toContain("COMPLETED");
  expect(toldIn(receiver.posts)).toEqual(["Calling one", "Calling two", "Done.", "COMPLETED"]);
});

test("no connection is made to an address that is not allowed, and the task ends all the same", async () => {
  await using receiver = await startReceiver();
  await using system = await startSystem([]);
  const client = await clientOf(system.url, "JSONRPC");
  const taskId = taskIn(await client.sendMessage(send(push(receiver.url))));
  system.letGo();

  await expect.poll(async () => JSON.stringify(await client.getTask({ tenant: "", id: taskId }))).toContain("Done.");
  expect(receiver.connections()).toBe(0);
});

test("faults of a config are said at once, before anything is begun", async () => {
  await using system = await startSystem([]);
  const client = await clientOf(system.url, "JSONRPC");
  const wrong = send(push("file:///etc/passwd", { token: "a\r\nb" }));
  await expect(client.sendMessage(wrong)).rejects.toThrow(/url: .*token: /);
  await expect(
    client.createTaskPushNotificationConfig(push("https://e.example/", { taskId: "f".repeat(32) })),
  ).rejects.toThrow("There is no task");
});
