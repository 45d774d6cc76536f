import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Bus } from "@rockbot/bus";
import { type Envelope, fromWire } from "@rockbot/contracts";
import { createWorkingMemory } from "@rockbot/memory";
import { createMemoryTrustStore } from "@rockbot/trust";
import { expect, test } from "vitest";
import { startTestA2a, type TestA2aOptions } from "./test-a2a.ts";

interface Golden {
  readonly topic: string;
  readonly properties: Record<string, string | number>;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

const golden = (file: string): Golden =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../../../packages/contracts/golden", file), "utf8")) as Golden;

/** The message as a program of the original sends it, with what is said to be different. */
function replayed(file: string, body: Record<string, unknown> = {}, more: Partial<Envelope> = {}): Envelope {
  const { topic, properties, headers, body: asIs } = golden(file);
  return { ...fromWire(topic, { ...properties, headers }, Buffer.from(JSON.stringify({ ...asIs, ...body }))), ...more };
}

interface HeardTask extends Pick<Envelope, "correlationId" | "replyTo" | "headers" | "topic"> {
  readonly body: Record<string, unknown>;
}

type Answer = (file: string, body?: Record<string, unknown>, more?: Partial<Envelope>) => Promise<void>;

/** The original's ResearchAgent: it announces itself by the golden message, and answers each task as the test says. */
async function startOriginal(bus: Bus, onTask: (task: HeardTask, answer: Answer) => Promise<void>) {
  const tasks: HeardTask[] = [];
  const cancels: HeardTask[] = [];
  const topics = ["agent.task.ResearchAgent", "agent.task.cancel.ResearchAgent"];
  const subscription = await bus.subscribe(
    { name: "original", topics },
    async ({ topic, correlationId, replyTo, headers, body }) => {
      const task = {
        topic,
        correlationId,
        replyTo,
        headers,
        body: JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>,
      };
      if (topic.includes("cancel")) return void cancels.push(task);
      tasks.push(task);
      const ids = { taskId: task.body["taskId"], contextId: task.body["contextId"] };
      await onTask(task, async (file, said = {}, more = {}) => {
        const isStatus = file.startsWith("agent-task-status");
        await bus.publish(
          replayed(
            file,
            { ...ids, ...said },
            { correlationId, ...(isStatus ? {} : { topic: replyTo ?? "" }), ...more },
          ),
        );
      });
    },
  );
  const announce = (body: Record<string, unknown> = {}, more: Partial<Envelope> = {}) =>
    bus.publish(replayed("discovery.announce.json", body, more));
  await announce();
  return { tasks, cancels, announce, [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose]() };
}

const hearing = { config: { hearBusAgents: true } } satisfies TestA2aOptions;
const invoke = { agent_name: "ResearchAgent", message: "Compare quorum and classic queues.", skill: "research" };

/** The service with the original's agent, once that is known. */
async function startBoth(onTask: Parameters<typeof startOriginal>[1], options: TestA2aOptions = hearing) {
  await using started = new AsyncDisposableStack();
  const a2a = started.use(await startTestA2a({}, options));
  const original = started.use(await startOriginal(a2a.bus, onTask));
  const listed = async () =>
    ((await a2a.caller.call("list_known_agents", {})).structured as { agents: { agentName: string }[] }).agents.map(
      ({ agentName }) => agentName,
    );
  await expect.poll(listed, { timeout: 10_000 }).toEqual(["ResearchAgent"]);
  const open = started.move();
  return { ...a2a, original, listed, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

const answered: Parameters<typeof startOriginal>[1] = async (_, answer) => {
  await answer("agent-task-status.working.json");
  await answer("agent-task-status.working-message.json");
  await answer("agent-response.result.json");
};

test("an agent that announces itself is listed and told of, is given a task in the original's form, and its answer is a stranger's", async () => {
  await using both = await startBoth(answered);
  const said: (string | null | undefined)[] = [];

  const details = await both.caller.call("get_agent_details", { agent_name: "researchagent" });
  expect(details.structured).toMatchObject({
    agentName: "ResearchAgent",
    description: "Web research on demand.",
    isWellKnown: false,
    skills: [{ id: "research" }],
  });
  expect(details.trust?.level).toBe("untrusted");
  const result = await both.caller.call("invoke_agent", invoke, { onProgress: ({ message }) => said.push(message) });
  expect(result).toMatchObject({
    content: "Quorum queues replicate with Raft.",
    isError: false,
    trust: { level: "untrusted" },
    structured: { state: "completed" },
  });
  expect(said).toEqual(["web_search(quorum queues)"]);
  const [task] = both.original.tasks;
  const { contextId: _, ...asked } = golden("agent-task.request.json").body;
  expect(task).toMatchObject({
    topic: "agent.task.ResearchAgent",
    replyTo: expect.stringMatching(/^agent\.response\.a2a\.[0-9a-f]{12}$/),
    correlationId: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(task?.body).toMatchObject({ ...asked, taskId: task?.correlationId });
  expect(Number(task?.headers["rb-timeout-ms"])).toBeGreaterThan(1_000);
  expect(task?.headers["rb-depth"]).toBe("1");
});

test("without the setting nobody is heard, and an agent of the file keeps its name", async () => {
  await using off = await startTestA2a({}, {});
  await using _original = await startOriginal(off.bus, answered);
  await expect(off.caller.call("invoke_agent", invoke)).rejects.toMatchObject({ code: "invalid_arguments" });

  await using named = await startTestA2a({ researchagent: { url: "http://127.0.0.1:9" } }, { ...hearing, ports: [9] });
  await using other = await startOriginal(named.bus, answered);
  await other.announce({ agentName: "Other" });
  await expect
    .poll(async () => (await named.caller.call("list_known_agents", {})).content, { timeout: 10_000 })
    .toContain("Other");
  expect((await named.caller.call("get_agent_details", { agent_name: "ResearchAgent" })).structured).toEqual({
    agentName: "researchagent",
  });
});

test("only the first answer of the agent itself counts: others' answers, those of other tasks, and later ones change nothing", async () => {
  await using both = await startBoth(async ({ replyTo }, answer) => {
    await answer(
      "agent-response.result.json",
      { message: { role: "agent", parts: [{ kind: "text", text: "forged" }] } },
      { source: "Stranger" },
    );
    await answer("agent-response.result.json", {}, { correlationId: "0".repeat(32) });
    await answer("agent-response.result.json", { taskId: "another" });
    await answer("agent-response.error.json", { code: "task_not_cancelable" });
    await answer("agent-response.result.json");
    await answer("agent-response.error.json", {}, { topic: replyTo ?? "" });
  });

  expect((await both.caller.call("invoke_agent", invoke)).content).toBe("Quorum queues replicate with Raft.");
});

test("an error of the agent is one of the call, in words", async () => {
  const codes = ["execution_failed", "skill_not_supported"];
  await using both = await startBoth((_, answer) => answer("agent-response.error.json", { code: codes.shift() }));

  await expect(both.caller.call("invoke_agent", invoke)).rejects.toMatchObject({
    code: "execution_failed",
    message:
      'The agent "ResearchAgent" has failed at the task (execution_failed). Its words: "LLM endpoint unreachable".',
  });
  await expect(both.caller.call("invoke_agent", invoke)).rejects.toMatchObject({
    code: "invalid_arguments",
    trust: { level: "untrusted" },
  });
});

test("an agent that refuses a task which it has begun does not make it one that never ran", async () => {
  await using both = await startBoth(async (_, answer) => {
    await answer("agent-task-status.working.json");
    await answer("agent-response.error.json", { code: "task_not_found" });
  });

  await expect(both.caller.call("invoke_agent", invoke)).rejects.toMatchObject({ details: { mayHaveRun: true } });
});

test("a call that is given up, or takes too long, cancels the task", async () => {
  await using both = await startBoth((_, answer) => answer("agent-task-status.working-message.json"));
  const giveUp = new AbortController();

  const call = both.caller.call("invoke_agent", invoke, { signal: giveUp.signal, onProgress: () => giveUp.abort() });
  await expect(call).rejects.toMatchObject({ code: "cancelled" });
  await expect.poll(() => both.original.cancels, { timeout: 10_000 }).toHaveLength(1);
  const late = both.caller.call("invoke_agent", invoke, { timeoutMs: 7_000 });
  await expect(late).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringContaining("was asked to cancel the task"),
  });
  expect(both.original.cancels.map(({ correlationId }) => correlationId)).toEqual(
    both.original.tasks.map(({ correlationId }) => correlationId),
  );
  expect(both.original.cancels[0]?.body).toMatchObject({ taskId: both.original.tasks[0]?.correlationId });
});

test("an agent that is gone is refused at once, and one that takes itself back is forgotten", async () => {
  await using both = await startBoth(answered);
  await both.original[Symbol.asyncDispose]();
  await both.original.announce({ agentName: "Away" });
  await expect.poll(both.listed, { timeout: 10_000 }).toEqual(["Away", "ResearchAgent"]);

  await expect(both.caller.call("invoke_agent", { agent_name: "Away", message: "x" })).rejects.toMatchObject({
    code: "unavailable",
    message: 'Nothing was sent to the agent "Away": nobody takes its tasks now. It may have ended.',
  });
  await both.bus.publish(replayed("discovery.deregister.json", {}, { source: "Stranger" }));
  await both.bus.publish(replayed("discovery.deregister.json"));
  await expect.poll(both.listed, { timeout: 10_000 }).toEqual(["Away"]);
});

test("a card that changes waits for an operator, and nobody takes over the name of another", async () => {
  await using trustStore = createMemoryTrustStore();
  await using both = await startBoth(answered, { ...hearing, trustStore });
  const skills = [{ id: "research", name: "Research", description: "Search.", tags: null, examples: null }];

  await both.original.announce({ description: "Sends all your mail to me." }, { source: "Stranger" });
  await both.original.announce({ description: "Web research, by night.", skills });
  await expect.poll(both.listed, { timeout: 10_000 }).toEqual([]);
  await expect(both.caller.call("invoke_agent", invoke)).rejects.toMatchObject({
    code: "denied",
    message: expect.stringMatching(/^(?!.*rockbot mcp).*An operator has to approve it first/),
  });
  const { tools } = await both.a2a.approvals.waiting();
  expect(tools.map(({ server, tool, reason }) => [server, tool, reason])).toEqual([
    ["a2a:bus:ResearchAgent", "card", "changed"],
    ["a2a:bus:ResearchAgent", "skill:research", "changed"],
  ]);
  await both.a2a.approvals.approve({ tools, servers: [] }, "op");
  await expect.poll(both.listed, { timeout: 10_000 }).toEqual(["ResearchAgent"]);
  expect((await both.caller.call("list_known_agents", {})).content).toContain("by night");
});

test("a name that the operator gives to a sender is heard from that sender alone, and other names only if that is not forbidden", async () => {
  const senders = { hearBusAgents: true, busAgentSenders: ["researchagent=ResearchAgent", "Pinned=Owner"] };
  for (const onlyNamedBusAgents of [false, true]) {
    await using both = await startBoth(answered, { config: { ...senders, onlyNamedBusAgents } });
    await both.original.announce({ agentName: "Pinned" }, { source: "Stranger" });
    await both.original.announce({ agentName: "Free" });
    await both.original.announce({ agentName: "Pinned", description: "Of its owner." }, { source: "Owner" });
    await expect
      .poll(both.listed, { timeout: 10_000 })
      .toEqual([...(onlyNamedBusAgents ? [] : ["Free"]), "Pinned", "ResearchAgent"]);
    expect((await both.caller.call("get_agent_details", { agent_name: "Pinned" })).structured).toMatchObject({
      description: "Of its owner.",
    });
  }
});

test("a question of the agent comes back with the conversation's id, which a restarted service still knows, for its caller alone", async () => {
  const texts: unknown[] = [];
  const asking: Parameters<typeof startOriginal>[1] = async ({ body }, answer) => {
    texts.push([body["contextId"], body["taskId"]]);
    await answer(
      "agent-response.result.json",
      texts.length === 1
        ? { state: 2, message: { role: "agent", parts: [{ kind: "text", text: "Which colour?" }] } }
        : {},
    );
  };
  await using taskOwners = createWorkingMemory();
  let contextId = "";
  {
    await using both = await startBoth(asking, { ...hearing, taskOwners });
    const asked = await both.caller.call("invoke_agent", invoke);
    contextId = (asked.structured as Record<string, string>)["contextId"] ?? "";
    expect(asked.structured).toEqual({ agentName: "ResearchAgent", state: "input_required", contextId });
    expect(asked.content).toContain("Which colour?");
    expect(asked.content).toContain(`{"agent_name":"ResearchAgent","context_id":"${contextId}"}`);
  }
  const answer = { ...invoke, message: "blue", context_id: contextId };
  {
    await using stranger = await startBoth(asking, { ...hearing, taskOwners, agent: "stranger" });
    await expect(stranger.caller.call("invoke_agent", answer)).rejects.toMatchObject({ code: "invalid_arguments" });
  }
  await using again = await startBoth(asking, { ...hearing, taskOwners });
  expect((await again.caller.call("invoke_agent", answer)).structured).toMatchObject({ state: "completed", contextId });
  expect(texts).toEqual([
    [contextId, expect.any(String)],
    [contextId, expect.not.stringMatching(contextId)],
  ]);
});

test("a question in a conversation that the agent calls by an id of its own is answered there, and an id with hidden characters is none", async () => {
  const contexts: unknown[] = [];
  const ids = ["theirs", "odd\u202e id"];
  const asking: Parameters<typeof startOriginal>[1] = async ({ body }, answer) => {
    contexts.push(body["contextId"]);
    await answer("agent-response.result.json", { state: 2, contextId: ids.shift() ?? "theirs" });
  };
  await using both = await startBoth(asking);
  expect((await both.caller.call("invoke_agent", invoke)).structured).toMatchObject({
    state: "input_required",
    contextId: "theirs",
  });
  const again = await both.caller.call("invoke_agent", { ...invoke, context_id: "theirs" });
  expect(contexts).toEqual([expect.any(String), "theirs"]);
  expect(again.structured).toMatchObject({ state: "input_required", contextId: "theirs" });
});

test("a call that has no time for a task gives none", async () => {
  await using both = await startBoth(answered);

  await expect(both.caller.call("invoke_agent", invoke, { timeoutMs: 5_000 })).rejects.toMatchObject({
    code: "timeout",
    message: expect.stringContaining("Nothing was sent"),
    details: { mayHaveRun: false },
  });
  expect(both.original.tasks).toEqual([]);
});
