import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Bus, createMemoryBus, silentLogger, UnroutableError } from "@rockbot/bus";
import { type Envelope, fromWire } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { startTestAgent } from "../test-agent-service.ts";
import { announceAgents } from "./announce-agents.ts";

interface Golden {
  readonly topic: string;
  readonly properties: Record<string, string | number>;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;
}

const golden = (file: string): Golden =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../../../../packages/contracts/golden", file), "utf8")) as Golden;

/** The message as a program of the original sends it, to the agent served here. */
function replayed(file: string, body: Record<string, unknown> = {}, more: Partial<Envelope> = {}): Envelope {
  const { topic, properties, headers, body: asIs } = golden(file);
  const to = topic.replace(/ResearchAgent$/, "RockBot");
  return { ...fromWire(to, { ...properties, headers }, Buffer.from(JSON.stringify({ ...asIs, ...body }))), ...more };
}

/** What a program of the original hears as the caller RockBot. */
async function hearAll(bus: Bus) {
  const heard: {
    topic: string;
    type: string;
    correlationId: string | undefined;
    messageId: string;
    body: Record<string, unknown>;
  }[] = [];
  const topics = ["agent.response.RockBot", "agent.task.status", "discovery.announce"];
  const subscription = await bus.subscribe(
    { name: "original", topics, kind: "copy" },
    async ({ topic, type, correlationId, messageId, body }) => {
      heard.push({
        topic,
        type: type.split(".").at(-1) ?? "",
        correlationId,
        messageId,
        body: JSON.parse(Buffer.from(body).toString()),
      });
    },
  );
  const answers = () => heard.filter(({ topic }) => topic === "agent.response.RockBot");
  return { heard, answers, [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose]() };
}

const TASK = "4f6b8d2a1c3e4a5b9d7f0e1c2b3a4d5e";
const served = { env: { BUS_AGENTS: "RockBot" } };

test("the original's task is taken, told of as working, and answered once at its reply-to, however often it comes", async () => {
  await using agent = await startTestAgent(
    [{ text: "Quorum queues replicate with Raft." }, { text: "another answer" }],
    served,
  );
  await using peer = await hearAll(agent.bus);

  await agent.bus.publish(replayed("agent-task.request.json", { skill: null }));
  await expect.poll(peer.answers, { timeout: 10_000 }).toHaveLength(1);
  const [status] = peer.heard;
  expect(status).toMatchObject({
    topic: "agent.task.status",
    correlationId: TASK,
    body: golden("agent-task-status.working.json").body,
  });
  expect(peer.answers()[0]).toMatchObject({
    type: "AgentTaskResult",
    correlationId: TASK,
    body: golden("agent-response.result.json").body,
  });

  await agent.bus.publish(replayed("agent-task.request.json", { skill: null }));
  await expect.poll(peer.answers, { timeout: 10_000 }).toHaveLength(2);
  expect(peer.answers()[1]).toEqual(peer.answers()[0]);
  expect(agent.model.requests).toHaveLength(1);

  const message = { role: "user", parts: [{ kind: "text", text: "40" }] };
  await agent.bus.publish(replayed("agent-task.request.json", { skill: null, message }));
  await expect.poll(peer.answers, { timeout: 10_000 }).toHaveLength(3);
  expect(peer.answers()[2]?.body).toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("another message had its taskId"),
  });
});

test("tasks with the same contextId are of one conversation, and others' contextIds are none of it", async () => {
  await using agent = await startTestAgent([{ text: "one" }, { text: "two" }, { text: "three" }], served);
  await using peer = await hearAll(agent.bus);
  const send = (taskId: string, more: Partial<Envelope> = {}) =>
    agent.bus.publish(
      replayed(
        "agent-task.request.json",
        { taskId, contextId: "talk", skill: "chat" },
        { correlationId: taskId, ...more },
      ),
    );

  for (const [i, task] of ["a", "b"].entries()) {
    await send(task);
    await expect.poll(peer.answers, { timeout: 10_000 }).toHaveLength(i + 1);
  }
  await send("c", { source: "Stranger" });
  await expect.poll(peer.answers, { timeout: 10_000 }).toHaveLength(3);
  const asked = agent.model.requests.map(({ body }) => JSON.stringify(body).match(/Compare quorum/g)?.length);
  expect(asked).toEqual([1, 2, 1]);
});

test("an agent that asks back answers with a question, and goes on in the conversation that its answer names", async () => {
  const facts = {
    name: "clerk",
    description: "",
    playbook: "Sell shirts.",
    tools: [],
    maker: "operator",
    isUntrusted: false,
    hash: "1",
  };
  const clerk = { ...facts, reportSchema: { type: "object", required: ["size"] } };
  const report = (more: object) => ({ toolCalls: [{ name: "agent__final_report", arguments: more }] });
  await using agent = await startTestAgent(
    [
      report({ status: "input-required", format: "json", content_json: { size: 0 } }),
      report({ status: "input-required", format: "text", content: "Which size?" }),
      report({ status: "success", format: "json", content_json: { size: 40 } }),
    ],
    { env: { BUS_AGENTS: "clerk" }, definitions: { visibleTo: async () => [clerk], ofSession: async () => undefined } },
  );
  await using peer = await hearAll(agent.bus);
  const send = (taskId: string, contextId: string | null) =>
    agent.bus.publish({
      ...replayed("agent-task.request.json", { taskId, contextId, skill: null }),
      topic: "agent.task.clerk",
    });

  await send("a", null);
  await expect.poll(peer.answers, { timeout: 10_000 }).toHaveLength(1);
  const [question] = peer.answers();
  expect(question?.body).toMatchObject({
    state: 2,
    contextId: expect.stringMatching(/./),
    message: { parts: [{ text: "Which size?" }] },
  });
  await send("b", question?.body["contextId"] as string);
  await expect.poll(peer.answers, { timeout: 10_000 }).toHaveLength(2);
  expect(peer.answers()[1]?.body).toMatchObject({ state: 3, message: { parts: [{ text: '{"size":40}' }] } });
  expect(JSON.stringify(agent.model.requests[1]?.body)).toContain("a question is a text in content");
});

test("a task that cannot be taken is refused in words, with the original's codes", async () => {
  await using agent = await startTestAgent([], served);
  await using peer = await hearAll(agent.bus);
  const refused = async (body: Record<string, unknown>) => {
    const before = peer.answers().length;
    await agent.bus.publish(replayed("agent-task.request.json", body));
    await expect.poll(peer.answers, { timeout: 10_000 }).toHaveLength(before + 1);
    return peer.answers().at(-1)?.body;
  };

  expect(await refused({})).toMatchObject({
    taskId: TASK,
    code: "skill_not_supported",
    message: expect.stringContaining('"chat"'),
  });
  expect(await refused({ skill: null, message: { role: "user", parts: [] } })).toMatchObject({
    code: "invalid_request",
    isRetryable: false,
  });
  expect(
    await refused({
      skill: null,
      message: { role: "user", parts: [{ kind: "file", data: "AAAA", mimeType: "image/png" }] },
    }),
  ).toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("Other files are not read here"),
  });
  for (const data of ["aGVsbG8*###", "aGVsb", "YQ==YQ=="])
    expect(
      await refused({
        skill: null,
        message: { role: "user", parts: [{ kind: "file", data, mimeType: "text/plain" }] },
      }),
    ).toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("as base64"),
    });
  expect(await refused({ message: 7 })).toMatchObject({ taskId: TASK, code: "invalid_request" });
  await agent.bus.publish(replayed("agent-task-cancel.request.json"));
  await expect.poll(() => peer.answers().at(-1)?.body).toEqual(golden("agent-response.cancel-refused.json").body);
  expect(agent.model.requests).toHaveLength(0);
});

test("a task that runs is cancelled by its sender, and by nobody else", async () => {
  await using agent = await startTestAgent([{ text: "too late", delayMs: 60_000 }], served);
  await using peer = await hearAll(agent.bus);

  await agent.bus.publish(replayed("agent-task.request.json", { skill: null }));
  await expect.poll(() => agent.model.requests.length, { timeout: 10_000 }).toBe(1);
  await agent.bus.publish(replayed("agent-task-cancel.request.json", {}, { source: "Stranger" }));
  await expect.poll(peer.answers).toHaveLength(1);
  expect(peer.answers()[0]?.body).toMatchObject({ code: "task_not_cancelable" });
  await agent.bus.publish(replayed("agent-task-cancel.request.json"));
  await expect.poll(peer.answers, { timeout: 10_000 }).toHaveLength(2);
  expect(peer.answers()[1]).toMatchObject({
    type: "AgentTaskResult",
    correlationId: TASK,
    body: { taskId: TASK, state: 5 },
  });
});

test("an agent that no setting names is neither announced nor served", async () => {
  await using agent = await startTestAgent([]);
  const unheard = agent.bus.publish(replayed("agent-task.request.json"), { mandatory: true });
  await expect(unheard).rejects.toBeInstanceOf(UnroutableError);
});

test("agents are announced, each again when another instance takes it back, and taken back at the end", async () => {
  await using bus = createMemoryBus();
  await using peer = await hearAll(bus);
  const cards = () => peer.heard.map(({ body }) => [body["agentName"], body["isDeregistering"]]);
  const agents = ["RockBot", "clerk"].map((name) => ({ name, definition: undefined }));
  {
    await using _announced = await announceAgents(bus, agents, { log: silentLogger });
    await expect.poll(cards).toEqual([
      ["RockBot", false],
      ["clerk", false],
    ]);
    expect(peer.heard[0]?.body).toMatchObject({
      skills: [{ id: "chat" }],
      description: expect.any(String),
      version: expect.any(String),
    });
    await bus.publish(replayed("discovery.deregister.json", { agentName: "rockbot" }));
    await expect.poll(() => cards().slice(3)).toEqual([["RockBot", false]]);
  }
  await expect
    .poll(() => cards().slice(4))
    .toEqual([
      ["RockBot", true],
      ["clerk", true],
    ]);
});
