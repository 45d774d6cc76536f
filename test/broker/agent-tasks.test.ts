import { configSchema, startAgentService } from "@rockbot/agent-service";
import type { Bus } from "@rockbot/bus";
import { AGENT, agentTopics, createEnvelope, encodeMessage, messages, newId, taskTopics } from "@rockbot/contracts";
import { loadConfig } from "@rockbot/process/config";
import { startModelServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { openRawUser } from "./raw-user.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect } from "./verified-system.ts";

/**
 * An agent that takes tasks, one caller that may give it some, an agent of another program, and a caller of other
 * tools.
 */
const POLICY = `
identity: verified
callers:
  researcher: { user: ResearchAgent, allow: [agent__chat] }
  browser: { allow: ["web_*"] }
services:
  agent: { topic: tool.invoke.agent, tools: [agent__chat, agent__events, agent__cancel], owns: [user.message, user.feedback, user.history.request, agent.task.RockBot] }
  research: { user: ResearchAgent, topic: agent.task.ResearchAgent }
delegates: [{ user: agent, for: [researcher] }]
`;

const taskTo = (agent: string, replyTo: string, taskId = newId()) =>
  createEnvelope({
    topic: taskTopics.task(agent),
    type: messages.AgentTaskRequest.type,
    source: "ResearchAgent",
    correlationId: taskId,
    replyTo,
    body: encodeMessage("AgentTaskRequest", {
      taskId,
      contextId: null,
      skill: null,
      message: { role: "user", parts: [{ kind: "text", text: "Look.", data: null, mimeType: null }] },
    }),
  });

/** What comes to topics that the user of the bus may hear. */
async function hear(bus: Bus, topics: string[]) {
  const heard: { readonly topic: string; readonly userId: string | undefined; readonly text: string }[] = [];
  const subscription = await bus.subscribe(
    { name: "research", topics, kind: "copy" },
    async ({ topic, userId, body }) => {
      heard.push({ topic, userId, text: Buffer.from(body).toString() });
    },
  );
  return { heard, [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose]() };
}

test("with the rights of the policy alone an agent takes a task, answers its sender, and nobody else gives it one or answers in its place", {
  timeout: 120_000,
}, async () => {
  await using model = await startModelServer(() => ({ text: "Seen." }));
  await using broker = await verifiedHost(POLICY);
  await using agentBus = await connect(broker, AGENT);
  const env = { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey, BUS_AGENTS: "RockBot" };
  const config = loadConfig(configSchema, { env });
  await using _agent = await startAgentService(agentBus, config, {
    service: AGENT,
    topic: agentTopics.invoke,
    policy: broker.policy,
  });
  await using researcher = await connect(broker, "ResearchAgent");
  const own = `${taskTopics.response}.ResearchAgent`;
  await using answers = await hear(researcher, [own, taskTopics.status]);

  await researcher.publish(taskTo("RockBot", own));
  const answer = () => answers.heard.find(({ topic }) => topic === own);
  await expect
    .poll(answer, { timeout: 30_000 })
    .toMatchObject({ userId: AGENT, text: expect.stringContaining("Seen.") });
  expect(answers.heard.find(({ topic }) => topic === taskTopics.status)?.userId).toBe(AGENT);
  expect(model.requests).toHaveLength(1);

  // Its answers go to topics of its sender alone, whatever a task names.
  await researcher.publish(taskTo("RockBot", `${taskTopics.response}.browser`));
  await expect
    .poll(async () => (await agentBus.inspect("agent.task", "parked"))?.messages, { timeout: 20_000 })
    .toBe(1);
  expect(model.requests).toHaveLength(1);

  await using browser = await openRawUser(broker.urlOf("browser"));
  await using research = await openRawUser(broker.urlOf("ResearchAgent"));
  const verdicts = {
    "a task by another caller": await browser.publish("rockbot", taskTopics.task("RockBot")),
    "a cancel by another caller": await browser.publish("rockbot", taskTopics.cancel("RockBot")),
    "an answer by another caller": await browser.publish("rockbot", own),
    "answers to others": await browser.bind("rockbot", own),
    "tasks of the agent": await research.bind("rockbot", taskTopics.task("RockBot")),
    "a task for itself": await research.publish("rockbot", taskTopics.task("ResearchAgent")),
    "a result of a tool": await research.publish("rockbot", "tool.result.browser"),
  };
  expect(verdicts).toEqual(Object.fromEntries(Object.keys(verdicts).map((what) => [what, "refused"])));
});
