import { createHash } from "node:crypto";
import { AgentCard, type Message, Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { createMemoryTaskStore, MAX_MESSAGES } from "@rockbot/a2a/serve";
import { createMemoryBus } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { StoreUnavailableError } from "@rockbot/records";
import { freePort } from "@rockbot/testing";
import { expect, test } from "vitest";
import { serveTestAgent, type TestTurn, twoWords } from "../chat/test-agent.ts";
import { startGateway } from "../gateway.ts";
import { check, configSchema } from "../settings.ts";
import { startTestGateway } from "../test-gateway.ts";

const hashOf = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;
const policyOf = async (...names: string[]) => {
  const one = (name: string) => `${name}: { allow: ["*"], tokens: [{ hash: "${hashOf(`${name}-token`)}" }] }`;
  return holdPolicy(createPolicy(await readPolicy(`callers: { ${names.map(one).join(", ")} }`, "of the test")));
};

/** A gateway with A2A in front of an agent that does what the script says. */
async function startSystem(
  script: Parameters<typeof serveTestAgent>[1],
  policy?: Awaited<ReturnType<typeof policyOf>>,
  settings: object = {},
) {
  await using started = new AsyncDisposableStack();
  const port = await freePort();
  const a2aUrl = `http://127.0.0.1:${port}`;
  const gateway = started.use(await startTestGateway({ port, a2aUrl, a2aAgents: ["clerk"], ...settings }, policy));
  const agent = started.use(await serveTestAgent(gateway.bus, script));
  const parts = started.move();
  return { ...gateway, url: a2aUrl, agent, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

interface Way {
  readonly agent?: string;
  readonly binding?: "JSONRPC" | "HTTP+JSON";
  readonly version?: "1.0" | "0.3";
  readonly caller?: string;
}

/** The SDK's own client, by the card that the gateway gives. */
async function clientOf(
  url: string,
  { binding = "JSONRPC", version = "1.0", caller, agent }: Way = {},
): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init = {}) =>
    fetch(input, {
      ...init,
      headers: {
        ...(init.headers as Record<string, string>),
        ...(caller === undefined ? {} : { authorization: `Bearer ${caller}-token` }),
      },
    });
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const card = AgentCard.fromJSON(
    await (
      await fetch(`${url}${agent === undefined ? "" : `/a2a/agents/${agent}`}/.well-known/agent-card.json`, {
        headers: { "a2a-version": "1.0" },
      })
    ).json(),
  );
  const supportedInterfaces = card.supportedInterfaces.filter(
    (one) => one.protocolBinding === binding && one.protocolVersion === version,
  );
  expect(supportedInterfaces).toHaveLength(1);
  return await new ClientFactory({
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
  }).createFromAgentCard({
    ...card,
    supportedInterfaces,
  });
}

const message = (text: string, more: Partial<Message> = {}) => ({
  tenant: "",
  configuration: undefined,
  metadata: undefined,
  message: {
    messageId: crypto.randomUUID(),
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "text/plain" },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  },
});
const byId = (id: string) => ({ tenant: "", id, metadata: undefined });
const textOf = (task: Task): string =>
  task.artifacts
    .flatMap(({ parts }) => parts.map(({ content }) => (content?.$case === "text" ? content.value : "")))
    .join("");

/** A script whose turns end when they are let go. */
function held(): { readonly script: Parameters<typeof serveTestAgent>[1]; readonly turns: TestTurn[]; letGo(): void } {
  const turns: TestTurn[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    turns,
    letGo: resolve,
    async script(turn) {
      turns.push(turn);
      await turn.tell({ kind: "tool_started", toolName: "web_search", toolCallId: "1" });
      const { promise: stopped, reject } = Promise.withResolvers<never>();
      turn.signal.addEventListener("abort", () => reject(turn.signal.reason));
      await Promise.race([promise, stopped]);
      await turn.tell({ kind: "text", text: "Done" });
      return { text: "Done." };
    },
  };
}

const ways = (["JSONRPC", "HTTP+JSON"] as const).flatMap((binding) =>
  (["1.0", "0.3"] as const).map((version) => ({ binding, version })),
);

test.each(ways)(
  "a client of the SDK gets an answer, whole and as a stream, by $binding of A2A $version",
  async (way) => {
    await using system = await startSystem(twoWords);
    const client = await clientOf(system.url, way);

    const task = (await client.sendMessage(message("Hi"))) as Task;
    expect([task.status?.state, textOf(task)]).toEqual([TaskState.TASK_STATE_COMPLETED, "Hello there."]);
    expect(await client.getTask(byId(task.id))).toMatchObject({ id: task.id, contextId: task.contextId });
    const events: StreamResponse[] = [];
    for await (const event of client.sendMessageStream(message("Hi again", { contextId: task.contextId })))
      events.push(event);
    expect(events[0]?.payload).toMatchObject({ $case: "task", value: { contextId: task.contextId } });
    const pieces = events.flatMap(({ payload }) =>
      payload?.$case === "artifactUpdate" ? (payload.value.artifact?.parts ?? []) : [],
    );
    expect(pieces.map(({ content }) => content?.value).join("")).toBe("Hello there.");
    expect(events.at(-1)?.payload).toMatchObject({
      $case: "statusUpdate",
      value: { status: { state: TaskState.TASK_STATE_COMPLETED } },
    });
    expect(system.agent.turns.map(({ sessionId }) => sessionId)).toEqual([task.contextId, task.contextId]);
  },
);

test("an answer that begins again replaces the pieces that came before", async () => {
  const script: Parameters<typeof serveTestAgent>[1] = async ({ tell }) => {
    await tell({ kind: "text", text: "It is fo" });
    await tell({ kind: "notice", text: "It is taken up.", dropsText: true });
    await tell({ kind: "text", text: "It is " });
    await tell({ kind: "text", text: "four." });
    return { text: "It is four." };
  };
  await using system = await startSystem(script);
  const pieces: unknown[] = [];
  for await (const { payload } of (await clientOf(system.url)).sendMessageStream(message("Hi")))
    if (payload?.$case === "artifactUpdate")
      pieces.push([payload.value.append, payload.value.artifact?.parts[0]?.content?.value]);

  expect(pieces).toEqual([
    [false, "It is fo"],
    [false, "It is "],
    [true, "four."],
  ]);
});

test("the same message again is the same task, and another under its id is refused", async () => {
  await using system = await startSystem(twoWords);
  const client = await clientOf(system.url);
  const first = message("Hi", { messageId: "one" });

  const [task, again] = [(await client.sendMessage(first)) as Task, (await client.sendMessage(first)) as Task];
  expect(again).toMatchObject({ id: task.id });
  expect(system.agent.turns).toHaveLength(1);
  await expect(client.sendMessage(message("Other", { messageId: "one" }))).rejects.toThrow("another message had it");
});

test.each(["JSONRPC", "HTTP+JSON"] as const)(
  "a task is begun at once, followed, and cancelled, by %s",
  async (binding) => {
    const { script, turns } = held();
    await using system = await startSystem(script);
    const client = await clientOf(system.url, { binding });

    const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true };
    const task = (await client.sendMessage({ ...message("Work"), configuration })) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_WORKING);
    const stream = client.resubscribeTask(byId(task.id));
    expect((await stream.next()).value?.payload).toMatchObject({ $case: "task", value: { id: task.id } });
    expect((await stream.next()).value?.payload).toMatchObject({
      $case: "statusUpdate",
      value: { status: { message: { parts: [{ content: { value: "Calling web_search" } }] } } },
    });
    expect((await client.cancelTask(byId(task.id))).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect((await stream.next()).value?.payload).toMatchObject({
      value: { status: { state: TaskState.TASK_STATE_CANCELED } },
    });
    await expect.poll(() => turns[0]?.signal.aborted).toBe(true);
    await expect(client.resubscribeTask(byId(task.id)).next()).rejects.toThrow(/has ended: canceled/);
  },
);

test("a task whose turn an operator cancels is cancelled", async () => {
  await using system = await startSystem(async () => ({
    finish: "failed",
    code: ToolErrorCode.Cancelled,
    reason: "The turn was cancelled.",
  }));
  const client = await clientOf(system.url);

  expect(((await client.sendMessage(message("Work"))) as Task).status).toMatchObject({
    state: TaskState.TASK_STATE_CANCELED,
    message: { parts: [{ content: { value: expect.stringContaining("The turn was cancelled.") } }] },
  });
});

test("a client that goes leaves its task at work", async () => {
  const { script, letGo } = held();
  await using system = await startSystem(script);
  const client = await clientOf(system.url);

  const gone = new AbortController();
  const stream = client.sendMessageStream(message("Work"), { signal: gone.signal });
  const { value } = await stream.next();
  const id = value?.payload?.$case === "task" ? value.payload.value.id : "";
  gone.abort();
  await expect(stream.next()).rejects.toThrow();
  letGo();
  await expect.poll(async () => (await client.getTask(byId(id))).status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
});

test("callers need a token, and see their own tasks alone", async () => {
  await using system = await startSystem(twoWords, await policyOf("alice", "bob"));
  const [alice, bob] = [await clientOf(system.url, { caller: "alice" }), await clientOf(system.url, { caller: "bob" })];
  const first = message("Hi", { messageId: "one", contextId: "same" });

  const task = (await alice.sendMessage(first)) as Task;
  await expect(bob.getTask(byId(task.id))).rejects.toThrow("There is no task");
  await expect(bob.cancelTask(byId(task.id))).rejects.toThrow("There is no task");
  await expect(bob.resubscribeTask(byId(task.id)).next()).rejects.toThrow("There is no task");
  const other = (await bob.sendMessage(first)) as Task;
  expect(other.id).not.toBe(task.id);
  const all = { tenant: "", contextId: "", status: 0, pageToken: "", statusTimestampAfter: undefined };
  expect((await bob.listTasks(all)).tasks.map(({ id }) => id)).toEqual([other.id]);
  expect(system.agent.turns.map(({ caller }) => caller)).toEqual(["alice", "bob"]);
  const stranger = await system.send(
    { path: "/a2a/agent/rpc", method: "POST", headers: { "content-type": "application/json" } },
    "{}",
  );
  expect(stranger.status).toBe(401);
});

/** Cannot order a shirt without its size. */
const tailor: Parameters<typeof serveTestAgent>[1] = async ({ input, tell }) => {
  if (!/^\d+$/.test(input.message ?? ""))
    return { text: "Which size?", report: { status: "input-required", format: "text" } };
  await tell({ kind: "text", text: `Size ${input.message} is ordered.` });
  return { text: `Size ${input.message} is ordered.` };
};
const saidIn = ({ parts = [] }: Partial<Message> = {}): string =>
  parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");

test.each(ways)(
  "the agent asks back: its task waits, and goes on with the answer, by $binding of A2A $version",
  async (way) => {
    await using system = await startSystem(tailor);
    const client = await clientOf(system.url, way);

    const asked = (await client.sendMessage(message("A shirt."))) as Task;
    expect([asked.status?.state, saidIn(asked.status?.message), asked.artifacts]).toEqual([
      TaskState.TASK_STATE_INPUT_REQUIRED,
      "Which size?",
      [],
    ]);
    const again: StreamResponse[] = [];
    for await (const event of client.resubscribeTask(byId(asked.id))) again.push(event);
    expect(again.map(({ payload }) => payload)).toMatchObject([
      { $case: "task", value: { status: { state: TaskState.TASK_STATE_INPUT_REQUIRED } } },
    ]);

    const events: StreamResponse[] = [];
    for await (const event of client.sendMessageStream(message("40", { taskId: asked.id }))) events.push(event);
    expect(events[0]?.payload).toMatchObject({ $case: "task", value: { id: asked.id, contextId: asked.contextId } });
    expect(events.at(-1)?.payload).toMatchObject({
      $case: "statusUpdate",
      value: { status: { state: TaskState.TASK_STATE_COMPLETED } },
    });
    const task = await client.getTask(byId(asked.id));
    expect(textOf(task)).toBe("Size 40 is ordered.");
    expect(task.history.map((each) => [each.role, saidIn(each)])).toEqual([
      [Role.ROLE_USER, "A shirt."],
      [Role.ROLE_AGENT, "Which size?"],
      [Role.ROLE_USER, "40"],
    ]);
    const [first, second] = system.agent.turns;
    expect([system.agent.turns.length, second?.sessionId]).toEqual([2, first?.sessionId]);
    expect(second?.turnId).not.toBe(first?.turnId);
    await expect(client.sendMessage(message("41", { taskId: asked.id }))).rejects.toThrow("has ended: completed");
  },
);

test("a stream has a question as the state of the task, and not as a piece of its answer", async () => {
  await using system = await startSystem(async ({ input, tell }) => {
    const [status, text] =
      input.message === "40" ? (["success", "Ordered."] as const) : (["input-required", "Which size?"] as const);
    await tell({ kind: "tool_started", toolName: "agent__final_report", toolCallId: "1" });
    await tell({ kind: "text", text });
    return { text, report: { status, format: "text" } };
  });
  const client = await clientOf(system.url);
  const toldOf = async (text: string, more: Partial<Message> = {}) => {
    const told: StreamResponse["payload"][] = [];
    for await (const { payload } of client.sendMessageStream(message(text, more))) told.push(payload);
    return told;
  };
  const asked = await toldOf("A shirt.");
  expect(asked.map((each) => each?.$case)).toEqual(["task", "statusUpdate", "statusUpdate"]);
  expect(asked[2]).toMatchObject({ value: { status: { state: TaskState.TASK_STATE_INPUT_REQUIRED } } });
  const answered = await toldOf("40", { taskId: asked[0]?.$case === "task" ? asked[0].value.id : "" });
  expect(answered.slice(-2)).toMatchObject([
    {
      $case: "artifactUpdate",
      value: { artifact: { parts: [{ content: { value: "Ordered." } }] }, append: false, lastChunk: true },
    },
    { $case: "statusUpdate", value: { status: { state: TaskState.TASK_STATE_COMPLETED } } },
  ]);
});

test("an answer that comes again begins no further turn, and of two at once one counts", async () => {
  await using system = await startSystem(tailor);
  const client = await clientOf(system.url);
  const first = message("A shirt.", { messageId: "first" });
  const { id, contextId } = (await client.sendMessage(first)) as Task;
  const [one, two] = ["40", "41"].map((size) => message(size, { messageId: `size ${size}`, taskId: id, contextId }));

  const sent = await Promise.allSettled(
    [one, one, two].map((each) => client.sendMessage(each as ReturnType<typeof message>)),
  );
  const answers = sent.flatMap((each) => (each.status === "fulfilled" ? [textOf(each.value as Task)] : []));
  expect(new Set(answers).size).toBe(1);
  expect(system.agent.turns).toHaveLength(2);
  const winner = answers[0]?.includes("40") ? one : two;
  expect(await client.sendMessage(winner as ReturnType<typeof message>)).toMatchObject({
    id,
    status: { state: TaskState.TASK_STATE_COMPLETED },
  });
  expect(await client.sendMessage(first)).toMatchObject({ id, status: { state: TaskState.TASK_STATE_COMPLETED } });
  await expect(
    client.sendMessage(
      message("42", { messageId: (winner as ReturnType<typeof message>).message.messageId, taskId: id }),
    ),
  ).rejects.toThrow("another message had it");
  expect(system.agent.turns).toHaveLength(2);
});

test("a task that waits is its caller's alone, stays in its conversation, and is cancelled without a call", async () => {
  await using system = await startSystem(tailor, await policyOf("alice", "bob"));
  const [alice, bob] = [await clientOf(system.url, { caller: "alice" }), await clientOf(system.url, { caller: "bob" })];
  const { id } = (await alice.sendMessage(message("A shirt."))) as Task;

  await expect(bob.sendMessage(message("40", { taskId: id }))).rejects.toThrow("There is no task");
  await expect(alice.sendMessage(message("40", { taskId: id, contextId: "another" }))).rejects.toThrow(
    "the task belongs to another",
  );
  const { tasks } = await alice.listTasks({
    tenant: "",
    contextId: "",
    status: TaskState.TASK_STATE_INPUT_REQUIRED,
    pageToken: "",
    statusTimestampAfter: undefined,
  });
  expect(tasks.map((task) => task.id)).toEqual([id]);
  expect((await alice.cancelTask(byId(id))).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  await expect(alice.sendMessage(message("40", { taskId: id }))).rejects.toThrow("has ended: canceled");
  expect(system.agent.turns).toHaveLength(1);
});

test("a question that the store could not keep is learnt again once its answer comes", async () => {
  await using bus = createMemoryBus();
  await using agent = await serveTestAgent(bus, tailor);
  await using store = createMemoryTaskStore();
  let isAway = true;
  const write: typeof store.write = async (task, before) => {
    if (isAway && task.standing === "input-required") throw new StoreUnavailableError("Cannot write a task");
    return await store.write(task, before);
  };
  const port = await freePort();
  const config = loadConfig(configSchema, { env: {}, overrides: { port, a2aUrl: `http://127.0.0.1:${port}` }, check });
  await using _gateway = await startGateway(bus, config, { tasks: { ...store, write } });
  const client = await clientOf(`http://127.0.0.1:${port}`);
  const { id } = (await client.sendMessage(message("A shirt."))) as Task;
  isAway = false;

  const answer = message("40", { taskId: id });
  await expect(client.sendMessage(answer)).rejects.toThrow("is still at work");
  await expect
    .poll(async () => await client.sendMessage(answer).catch(() => undefined))
    .toMatchObject({ status: { state: TaskState.TASK_STATE_COMPLETED } });
  expect(agent.turns.map(({ input }) => input.message)).toEqual(["A shirt.", "40"]);
});

test("a task takes so many messages, and waits for an answer only so long", async () => {
  await using system = await startSystem(tailor);
  const client = await clientOf(system.url);
  const { id } = (await client.sendMessage(message("A shirt."))) as Task;
  for (let more = 2; more <= MAX_MESSAGES; more++) await client.sendMessage(message(`Guess ${more}.`, { taskId: id }));

  await expect(client.sendMessage(message("40", { taskId: id }))).rejects.toThrow(`has had ${MAX_MESSAGES} messages`);
  expect((await client.getTask({ ...byId(id), historyLength: 3 })).history.map(saidIn)).toEqual([
    "Guess 31.",
    "Which size?",
    "Guess 32.",
  ]);

  await using impatient = await startSystem(tailor, undefined, { a2aInputWaitMs: 1_000 });
  const hasty = await clientOf(impatient.url);
  const left = (await hasty.sendMessage(message("A shirt."))) as Task;
  await expect
    .poll(async () => (await hasty.getTask(byId(left.id))).status, { timeout: 20_000 })
    .toMatchObject({
      state: TaskState.TASK_STATE_FAILED,
      message: { parts: [{ content: { value: expect.stringContaining("no answer came within 1 s") } }] },
    });
});

test("tasks are listed by page, conversation and state, the newest first", async () => {
  await using system = await startSystem(async ({ input }) => {
    if (input.message === "fail") throw new ToolError(ToolErrorCode.ExecutionFailed, "It broke.");
    return { text: "Done." };
  });
  const client = await clientOf(system.url, { binding: "HTTP+JSON" });
  for (const text of ["one", "two", "fail"])
    await client.sendMessage(message(text, { contextId: text === "one" ? "first" : "second" }));
  const all = { tenant: "", contextId: "", status: 0, pageToken: "", statusTimestampAfter: undefined };

  const { tasks, nextPageToken, totalSize } = await client.listTasks({ ...all, pageSize: 2 });
  const rest = await client.listTasks({ ...all, pageSize: 2, pageToken: nextPageToken });
  const asked = [...tasks, ...rest.tasks].map(({ history }) => history[0]?.parts[0]?.content?.value);
  expect([asked, totalSize, rest.nextPageToken]).toEqual([["fail", "two", "one"], 3, ""]);
  expect((await client.listTasks({ ...all, contextId: "first" })).tasks).toHaveLength(1);
  const [failed] = (await client.listTasks({ ...all, status: TaskState.TASK_STATE_FAILED })).tasks;
  expect(failed?.status?.message?.parts[0]?.content?.value).toContain("It broke.");
});

test("a page of tasks with long texts ends early, and the next begins behind it", async () => {
  await using system = await startSystem(async ({ input }) => ({ text: input.message ?? "" }));
  const client = await clientOf(system.url);
  for (let i = 0; i < 6; i++) await client.sendMessage(message(`${i}${"x".repeat(250_000)}`));
  const pages: number[] = [];
  for (let pageToken: string | undefined = ""; pageToken !== undefined; ) {
    const page = await client.listTasks({
      tenant: "",
      contextId: "",
      status: 0,
      pageToken,
      statusTimestampAfter: undefined,
    });
    pages.push(page.tasks.length);
    pageToken = page.nextPageToken === "" ? undefined : page.nextPageToken;
  }
  expect(pages).toEqual([5, 1]);
});

test("what the agent does not do is refused in A2A's words", async () => {
  await using system = await startSystem(twoWords);
  const client = await clientOf(system.url);
  const raw = (value: string, mediaType: string) => ({
    content: { $case: "raw" as const, value: Buffer.from(value) },
    metadata: undefined,
    filename: "a.csv",
    mediaType,
  });
  await client.sendMessage(message("x", { parts: [raw("item,amount\ntea,``` 4", "text/csv")] }));
  expect(system.agent.turns[0]?.input.message).toBe(
    'The file "a.csv" (text/csv):\n````csv\nitem,amount\ntea,``` 4\n````',
  );
  for (const parts of [[raw("\0\x01", "text/csv")], [raw("words", "image/png")]])
    await expect(client.sendMessage(message("x", { parts }))).rejects.toMatchObject({
      reason: "CONTENT_TYPE_NOT_SUPPORTED",
    });
  const file = {
    content: { $case: "url" as const, value: "https://e.example/f" },
    metadata: undefined,
    filename: "",
    mediaType: "image/png",
  };

  await expect(client.sendMessage(message("x", { parts: [file] }))).rejects.toMatchObject({
    reason: "CONTENT_TYPE_NOT_SUPPORTED",
  });
  await expect(client.sendMessage(message(" "))).rejects.toThrow("there is no text");
  await expect(client.sendMessage(message("x", { taskId: "f".repeat(32) }))).rejects.toThrow("There is no task");
  const task = (await client.sendMessage(message("x"))) as Task;
  await expect(client.sendMessage(message("y", { taskId: task.id }))).rejects.toThrow(/has ended: completed/);
  await expect(client.cancelTask(byId(task.id))).rejects.toMatchObject({ reason: "TASK_NOT_CANCELABLE" });
  const push = { tenant: "", id: "", taskId: "", url: "http://127.0.0.1:1/", token: "", authentication: undefined };
  const configuration = { acceptedOutputModes: [], taskPushNotificationConfig: push, returnImmediately: false };
  await expect(client.sendMessage({ ...message("x"), configuration })).rejects.toMatchObject({
    reason: "PUSH_NOTIFICATION_NOT_SUPPORTED",
  });
});

test("a task whose agent is away fails in words", async () => {
  const port = await freePort();
  await using gateway = await startTestGateway({ port, a2aUrl: `http://127.0.0.1:${port}` });
  const client = await clientOf(gateway.url);

  const task = (await client.sendMessage(message("Hi"))) as Task;
  expect(task.status).toMatchObject({
    state: TaskState.TASK_STATE_FAILED,
    message: { parts: [{ content: { value: expect.stringContaining("agent__chat") } }] },
  });
});

test("the card is for everybody, says what requests need, and is there for clients of 0.3", async () => {
  await using system = await startSystem(twoWords, await policyOf("alice"));
  for (const path of ["/.well-known/agent-card.json", "/a2a/agent/.well-known/agent-card.json"]) {
    const { status, json } = await system.send({ path, headers: { "a2a-version": "1.0" } });
    expect([status, json]).toMatchObject([
      200,
      { securitySchemes: { token: { httpAuthSecurityScheme: { scheme: "Bearer" } } } },
    ]);
  }
  const old = await new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).resolve(system.url);
  expect(old.name).toBe("RockBot");
});

test("the card of a gateway that is open to its machine asks for no token, also beside a policy without tokens", async () => {
  await using system = await startSystem(
    twoWords,
    holdPolicy(createPolicy(await readPolicy("everyone: { allow: ['*'] }", "of the test"))),
  );
  const { json } = await system.send({ path: "/.well-known/agent-card.json", headers: { "a2a-version": "1.0" } });
  expect(json).not.toHaveProperty("securityRequirements");
  expect(json).not.toHaveProperty("securitySchemes.token");
});

test("without a2aUrl there is no A2A", async () => {
  await using gateway = await startTestGateway();

  for (const path of ["/.well-known/agent-card.json", "/a2a/agent/rpc"])
    expect((await gateway.send({ path })).status).toBe(404);
});

test.each(["JSONRPC", "HTTP+JSON"] as const)(
  "an agent of the settings has a card and tasks of its own, over %s",
  async (binding) => {
    await using system = await startSystem(async ({ input }) => ({
      text: `${input.agent ?? "the plain agent"} was asked`,
    }));
    const [plain, clerk] = [
      await clientOf(system.url, { binding }),
      await clientOf(system.url, { binding, agent: "clerk" }),
    ];
    expect(await clerk.getAgentCard()).toMatchObject({ name: "clerk" });
    const sent = message("Go.");
    const [first, other] = [(await plain.sendMessage(sent)) as Task, (await clerk.sendMessage(sent)) as Task];
    expect([first, other].map(textOf)).toEqual(["the plain agent was asked", "clerk was asked"]);
    expect(textOf(await clerk.getTask(byId(other.id)))).toBe("clerk was asked");
    await expect(plain.getTask(byId(other.id))).rejects.toThrow("There is no task");
    const list = { tenant: "", contextId: "", status: 0, pageToken: "", statusTimestampAfter: undefined };
    expect((await clerk.listTasks(list)).tasks.map(({ id }) => id)).toEqual([other.id]);
    expect((await fetch(`${system.url}/a2a/agents/nobody/.well-known/agent-card.json`)).status).toBe(404);
  },
);
