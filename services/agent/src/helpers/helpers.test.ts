import { createMemoryTurnStore } from "@rockbot/agent";
import { createMemoryBus } from "@rockbot/bus";
import { agentTopics, createEnvelope, encodeMessage, messages } from "@rockbot/contracts";
import { createWorkingMemory, MemoryFullError, type OwnedMemory, type WorkingMemory } from "@rockbot/memory";
import { loadConfig } from "@rockbot/process/config";
import { StoreUnavailableError } from "@rockbot/records";
import { type ClaimStore, createMemoryClaimStore } from "@rockbot/records/claims";
import { type ModelServerRequest, type ModelStep, startModelServer } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startAgentService } from "../agent-service.ts";
import { configSchema } from "../generated/config.ts";

const WAIT = { timeout: 30_000, interval: 10 };
const lastText = ({ messages: sent }: ModelServerRequest): string => sent.at(-1)?.text ?? "";
const userText = ({ messages: sent }: ModelServerRequest): string =>
  sent.findLast(({ role }) => role === "user")?.text ?? "";
const isTold = (request: ModelServerRequest): boolean => userText(request).includes("Your helper ");

/**
 * An agent whose model starts a helper for each message but those of helpers, and what programs on the bus hear of it.
 */
async function startAgent(
  script: (request: ModelServerRequest) => ModelStep | Promise<ModelStep>,
  env: Readonly<Record<string, string>> = {},
  given?: WorkingMemory,
  claims?: ClaimStore,
) {
  await using started = new AsyncDisposableStack();
  const model = started.use(await startModelServer(script));
  const bus = started.use(createMemoryBus());
  const workingMemory = given ?? started.use(createWorkingMemory());
  const config = loadConfig(configSchema, {
    env: { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey, ...env },
  });
  const turnStore = started.use(createMemoryTurnStore());
  const place = turnStore.place.bind(turnStore);
  let places = 0;
  turnStore.place = async (...of) => {
    await place(...of);
    places++;
  };
  started.use(
    await startAgentService(bus, config, {
      service: "agent",
      topic: "tool.invoke.agent",
      workingMemory,
      turnStore,
      claims,
    }),
  );
  const caller = started.use(await createToolCaller(bus, { agent: "gateway" }));
  await caller.discovered();
  const heard: { readonly topic: string; readonly source: string; readonly body: Readonly<Record<string, unknown>> }[] =
    [];
  started.use(
    await bus.subscribe(
      { name: "watcher", topics: ["subagent.#", "user.response"], kind: "copy" },
      async ({ topic, source, body }) => {
        heard.push({ topic, source, body: JSON.parse(Buffer.from(body).toString()) as Record<string, unknown> });
      },
    ),
  );
  const open = started.move();
  const send = (content: string) =>
    bus.publish(
      createEnvelope({
        topic: agentTopics.message,
        type: messages.UserMessage.type,
        source: "gateway",
        body: encodeMessage("UserMessage", { content, sessionId: "s-1", userId: "gateway" }),
      }),
    );
  /** Once so many messages of users have their places. */
  const placed = (count: number) => expect.poll(() => places, WAIT).toBe(count);
  const ask = (message: string, session = "s-1") =>
    caller.call("agent__chat", { message, session_id: session }, { timeoutMs: 60_000 });
  return {
    model,
    caller,
    heard,
    ask,
    send,
    placed,
    memory: workingMemory,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

test("a helper works beside its session, reports, and the session is told its result, which its user gets", async () => {
  await using agent = await startAgent((request) => {
    if (isTold(request)) return { text: `So: ${userText(request).match(/forty-two/)?.[0]}` };
    if (userText(request) !== "Count.")
      return lastText(request).includes("Helper ")
        ? { text: "I have asked." }
        : { toolCalls: [{ name: "spawn_subagent", arguments: { description: "Count." } }] };
    return lastText(request) === "Told."
      ? { text: "It is forty-two." }
      : { toolCalls: [{ name: "report_progress", arguments: { message: "half" } }] };
  });
  expect(await agent.ask("How many?")).toMatchObject({ content: "I have asked." });
  await expect.poll(() => agent.heard.filter(({ topic }) => topic === "user.response"), WAIT).toHaveLength(1);

  const [progress, result, reply] = agent.heard;
  const taskId = String(progress?.body["taskId"]);
  expect(taskId).toMatch(/^[0-9a-f]{12}$/);
  const ids = { taskId, subagentSessionId: `subagent-${taskId}` };
  expect(progress).toMatchObject({
    topic: "subagent.progress",
    source: `subagent-${taskId}`,
    body: { ...ids, message: "half" },
  });
  expect(result).toMatchObject({
    topic: "subagent.result",
    body: { ...ids, primarySessionId: "session/s-1", output: "It is forty-two.", isSuccess: true, error: null },
  });
  expect(reply).toMatchObject({ body: { content: "So: forty-two", sessionId: "s-1", isFinal: true } });
  expect(messages.SubagentResult.validate(structuredClone(result?.body))).toBe(true);
  expect(() => encodeMessage("SubagentProgress", progress?.body as never)).not.toThrow();
});

test("a fourth helper at once is refused in words, and list and cancel say what there is", async () => {
  const release = Promise.withResolvers<void>();
  const answers: string[] = [];
  await using agent = await startAgent(async (request) => {
    const [verb = "", argument = ""] = userText(request).split(" ");
    if (isTold(request)) return { text: "Good." };
    if (verb === "work") {
      await release.promise;
      return { text: "done" };
    }
    if (request.messages.at(-1)?.role === "tool") {
      answers.push(
        ...request.messages
          .slice(request.messages.findLastIndex(({ role }) => role === "user"))
          .map(({ text }) => text),
      );
      return { text: lastText(request) };
    }
    if (verb === "spawn")
      return {
        toolCalls: ["a", "b", "c", "d"]
          .slice(0, Number(argument))
          .map((x) => ({ name: "spawn_subagent", arguments: { description: `work ${x}` } })),
      };
    if (verb === "list") return { toolCalls: [{ name: "list_subagents", arguments: {} }] };
    return { toolCalls: [{ name: "cancel_subagent", arguments: { task_id: argument } }] };
  });
  await agent.ask("spawn 4");
  expect(
    answers.splice(0).filter((text) => text.startsWith("Error: no helper was started, as 3 work already")),
  ).toHaveLength(1); // of one answer, too
  const refused = await agent.ask("spawn 1");
  expect(refused.content).toMatch(
    /Error: no helper was started, as 3 work already: ([0-9a-f]{12}, ){2}[0-9a-f]{12}\. Wait for a result, or cancel one\./,
  );
  const list = await agent.ask("list");
  expect(list.content).toMatch(/^- [0-9a-f]{12} \((running|waiting), \d+ s\): work [abc]\n/);
  const [taskId = ""] = /[0-9a-f]{12}/.exec(list.content ?? "") ?? [];
  expect((await agent.ask("cancel 0123456789ab")).content).toMatch(
    /Error: nothing was cancelled, as this conversation has no helper "0123456789ab"\. It has [0-9a-f]{12}/,
  );
  expect((await agent.ask(`cancel ${taskId}`)).content).toContain(`Helper ${taskId} is being stopped.`);
  await expect
    .poll(() => agent.heard.filter(({ body }) => body["taskId"] === taskId), WAIT)
    .toMatchObject([{ topic: "subagent.result", body: { isSuccess: false, error: "cancelled" } }]);
  release.resolve();
  await expect.poll(() => agent.heard.filter(({ body }) => body["isSuccess"] === true), WAIT).toHaveLength(2);
  await expect.poll(async () => (await agent.ask("list")).content, WAIT).toMatch(/\(cancelled, \d+ s\)/);
  expect((await agent.ask(`cancel ${taskId}`)).content).toContain(`Helper ${taskId} had ended: cancelled.`);
});

test("a helper whose process ends is taken up by the next, does nothing twice, and its session is told once", async () => {
  await using resources = new AsyncDisposableStack();
  const release = Promise.withResolvers<void>();
  const asked = { helper: 0, told: 0 };
  const model = resources.use(
    await startModelServer(async (request) => {
      if (isTold(request)) {
        asked.told++;
        return { text: "Told." };
      }
      if (userText(request) !== "Count.")
        return request.messages.at(-1)?.role === "tool"
          ? { text: "Asked." }
          : { toolCalls: [{ name: "spawn_subagent", arguments: { description: "Count." } }] };
      if (request.messages.at(-1)?.role !== "tool")
        return { toolCalls: [{ name: "whiteboard_write", arguments: { key: "k", content: "1", version: "none" } }] };
      asked.helper++;
      if (asked.helper === 1) await release.promise;
      return { text: lastText(request) };
    }),
  );
  const bus = resources.use(createMemoryBus());
  const workingMemory = resources.use(createWorkingMemory());
  const turnStore = resources.use(createMemoryTurnStore());
  const env = { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey, SHUTDOWN_GRACE_MS: "200" };
  const config = loadConfig(configSchema, { env });
  const start = () =>
    startAgentService(bus, config, { service: "agent", topic: "tool.invoke.agent", workingMemory, turnStore });
  const results: unknown[] = [];
  const watch = async ({ body }: { readonly body: Uint8Array }): Promise<void> =>
    void results.push((JSON.parse(Buffer.from(body).toString()) as { output: string }).output);
  resources.use(await bus.subscribe({ name: "watcher", topics: ["subagent.result"], kind: "copy" }, watch));
  const first = await start();
  const caller = resources.use(await createToolCaller(bus, { agent: "gateway" }));
  await caller.discovered();
  await caller.call("agent__chat", { message: "How many?", session_id: "s-1" }, { timeoutMs: 60_000 });
  await expect.poll(() => asked.helper, WAIT).toBe(1);
  await first[Symbol.asyncDispose]();
  resources.use(await start());
  await expect.poll(() => asked.told, WAIT).toBe(1);
  release.resolve();
  expect(results).toEqual([expect.stringMatching(/^Wrote "k" on the whiteboard/)]);
  expect(asked).toEqual({ helper: 2, told: 1 });
});

test("a memory that forgets a helper while it works keeps its result, and its session reads it", async () => {
  const release = Promise.withResolvers<void>();
  const told: string[] = [];
  await using agent = await startAgent(async (request) => {
    if (isTold(request)) {
      told.push(userText(request));
      return { text: "Good." };
    }
    if (userText(request) !== "Count.")
      return request.messages.at(-1)?.role === "tool"
        ? { text: "Asked." }
        : { toolCalls: [{ name: "spawn_subagent", arguments: { description: "Count." } }] };
    await release.promise;
    return { text: "It is forty-two." };
  });
  await agent.ask("How many?");
  for (const { key } of await agent.memory.of("gateway").list("family/")) await agent.memory.of("gateway").delete(key);
  release.resolve();
  await expect.poll(() => told, WAIT).toEqual([expect.stringContaining("It is forty-two.")]);
});

test("a helper starts no helpers, and shares the whiteboard", async () => {
  let ofHelper: readonly string[] = [];
  await using agent = await startAgent((request) => {
    if (isTold(request)) return { text: "Good." };
    if (userText(request) !== "Count.")
      return request.messages.at(-1)?.role === "tool"
        ? { text: "Asked." }
        : { toolCalls: [{ name: "spawn_subagent", arguments: { description: "Count." } }] };
    ofHelper = request.toolNames;
    return { text: "It is forty-two." };
  });
  await agent.ask("How many?");
  await expect.poll(() => agent.heard.filter(({ topic }) => topic === "user.response"), WAIT).toHaveLength(1);
  expect(ofHelper).toEqual(expect.arrayContaining(["report_progress", "whiteboard_write"]));
  expect(ofHelper).not.toContain("spawn_subagent");
});

test("a session that calls itself a helper's has no way to report for one", async () => {
  let names: readonly string[] = [];
  await using agent = await startAgent((request) => {
    names = request.toolNames;
    return { text: "Yes." };
  });
  await agent.ask("Hello?", "subagent-0123456789ab");
  expect(names).toContain("spawn_subagent");
  expect(names).not.toContain("report_progress");
});

test("without helpers a session has no tool for them, nor a whiteboard", async () => {
  const offered: (readonly string[])[] = [];
  const script = (request: ModelServerRequest): ModelStep => {
    offered.push(request.toolNames);
    return { text: "Yes." };
  };
  const extra = expect.arrayContaining([
    "spawn_subagent",
    "cancel_subagent",
    "list_subagents",
    "whiteboard_read",
    "whiteboard_write",
    "whiteboard_list",
  ]);
  await using agent = await startAgent(script);
  await agent.ask("Hello?");
  await using bare = await startAgent(script, { HELPERS: "false" });
  await bare.ask("Hello?");
  expect(offered[0]).toEqual(extra);
  expect(offered[0]).not.toContain("report_progress");
  expect(offered[1]?.filter((name) => /subagent|whiteboard/.test(name))).toEqual([]);
});

test("a memory that is away or full when a helper ends keeps no session from being told", async () => {
  await using memory = createWorkingMemory();
  let isAway = 0;
  let isFull = false;
  const ofOwner = (owner: string): OwnedMemory => {
    const owned = memory.of(owner);
    const set: OwnedMemory["set"] = async (key, value, options) => {
      if (key.includes("/helpers/") && isAway-- > 0) throw new StoreUnavailableError("Redis is away");
      if (isFull && value.includes("forty-two")) throw new MemoryFullError("working memory is full");
      return owned.set(key, value, options);
    };
    return new Proxy(owned, {
      get: (target, name) => (name === "set" ? set : (Reflect.get(target, name) as () => void).bind(target)),
    });
  };
  const told: string[] = [];
  const script = (request: ModelServerRequest): ModelStep => {
    if (isTold(request)) {
      told.push(userText(request));
      return { text: "Good." };
    }
    if (userText(request) !== "Count.") {
      const isStarted = request.messages.at(-1)?.role === "tool";
      if (isStarted) return { text: "Asked." };
      return { toolCalls: [{ name: "spawn_subagent", arguments: { description: "Count." } }] };
    }
    isAway = 1; // at its end
    return { text: "It is forty-two." };
  };
  await using agent = await startAgent(script, {}, { of: ofOwner, [Symbol.asyncDispose]: async () => {} });
  await agent.ask("How many?");
  await expect.poll(() => told, WAIT).toEqual([expect.stringContaining("It is forty-two.")]);
  isFull = true;
  await agent.ask("How many?");
  await expect.poll(() => told, WAIT).toHaveLength(2);
  expect(told[1]).toContain("Its result is not kept: ");
});

test("stores that stand still while a helper's request comes cost its session no helper", async () => {
  let away = 0;
  const standStill = (): void => {
    if (away-- > 0) throw new StoreUnavailableError("Redis is away");
  };
  await using memory = createWorkingMemory();
  const ofOwner = (owner: string): OwnedMemory => {
    const owned = memory.of(owner);
    const set: OwnedMemory["set"] = async (...of) => {
      standStill();
      return owned.set(...of);
    };
    return new Proxy(owned, {
      get: (target, name) => (name === "set" ? set : (Reflect.get(target, name) as () => void).bind(target)),
    });
  };
  const claims = createMemoryClaimStore();
  const claim = claims.claim.bind(claims);
  let claimed = 0;
  claims.claim = async (...of) => {
    if (++claimed === 2) away = 3; // that of the helper, behind that of the turn which starts it
    standStill();
    return claim(...of);
  };
  const told: string[] = [];
  const script = (request: ModelServerRequest): ModelStep => {
    if (isTold(request)) told.push(userText(request));
    if (isTold(request) || request.messages.at(-1)?.role === "tool") return { text: "Good." };
    if (userText(request) === "Count.") return { text: "It is forty-two." };
    return { toolCalls: [{ name: "spawn_subagent", arguments: { description: "Count." } }] };
  };
  await using agent = await startAgent(script, {}, { of: ofOwner, [Symbol.asyncDispose]: async () => {} }, claims);
  await agent.ask("How many?");
  await expect.poll(() => told, WAIT).toEqual([expect.stringContaining("It is forty-two.")]);
});

test("where one turn runs at once, a helper that has ended lets a message go before that was sent before", {
  timeout: 60_000,
}, async () => {
  const release = Promise.withResolvers<void>();
  const works = Promise.withResolvers<void>();
  const order: string[] = [];
  await using agent = await startAgent(
    async (request) => {
      if (isTold(request)) order.push("told");
      else if (userText(request) === "Count.") {
        works.resolve();
        await release.promise;
      } else if (userText(request).includes("Second?")) order.push("second");
      else if (request.messages.at(-1)?.role !== "tool")
        return { toolCalls: [{ name: "spawn_subagent", arguments: { description: "Count." } }] };
      return { text: "Good." };
    },
    { CONCURRENCY: "1" },
  );
  await agent.send("First?");
  await works.promise; // it has the one place
  await agent.send("Second?");
  await agent.placed(2);
  release.resolve();
  await expect.poll(() => order, { timeout: 50_000 }).toEqual(["second", "told"]); // else the two wait for each other, until one gives up its turn
});
