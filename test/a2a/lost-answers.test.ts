import { connectBus } from "@rockbot/bus-rabbitmq";
import { createEnvelope, encodeMessage, messages, taskTopics } from "@rockbot/contracts";
import { loadConfig } from "@rockbot/process/config";
import { ownVirtualHost, startTcpFaultProxy } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startA2a } from "../../services/a2a/src/a2a.ts";
import { configSchema } from "../../services/a2a/src/generated/config.ts";

test("an answer that an agent sends while the service's connection is lost is the result of the call once the connection is back", {
  timeout: 120_000,
}, async () => {
  await using host = await ownVirtualHost();
  await using proxy = await startTcpFaultProxy(host.url);
  await using served = await connectBus(proxy.through(host.url));
  await using whole = await connectBus(host.url);
  const config = loadConfig(configSchema, { env: {}, overrides: { hearBusAgents: true, shutdownGraceMs: 2_000 } });
  await using _a2a = await startA2a(served, config, { service: "a2a", topic: "tool.invoke.a2a", env: {} });
  await using caller = await createToolCaller(whole, { agent: "tester" });
  await caller.discovered();
  const tasks = new Set<string>();
  await using _agent = await whole.subscribe(
    { name: "clerk", topics: [taskTopics.task("clerk")] },
    async ({ correlationId: taskId = "", replyTo = "" }) => {
      if (tasks.has(taskId)) return; // the bus delivers a message again whose confirmation was cut off
      tasks.add(taskId);
      proxy.setSilent(true);
      proxy.cutAll();
      await expect.poll(() => served.isReady, { timeout: 20_000 }).toBe(false);
      const message = {
        role: "agent" as const,
        parts: [{ kind: "text" as const, text: "Done.", data: null, mimeType: null }],
      };
      const body = encodeMessage("AgentTaskResult", { taskId, contextId: null, state: 3, artifacts: null, message });
      const type = messages.AgentTaskResult.type;
      await whole.publish(createEnvelope({ topic: replyTo, type, source: "clerk", correlationId: taskId, body }), {
        mandatory: true,
      });
      proxy.setSilent(false);
      proxy.cutAll();
    },
  );
  const card = encodeMessage("AgentCard", {
    agentName: "clerk",
    description: "Does the desk.",
    skills: [],
    version: "1",
    isDeregistering: false,
  });
  await whole.publish(
    createEnvelope({ topic: taskTopics.announce, type: messages.AgentCard.type, source: "clerk", body: card }),
  );
  await expect
    .poll(async () => (await caller.call("list_known_agents", {})).content, { timeout: 20_000 })
    .toContain('"clerk"');

  const result = await caller.call("invoke_agent", { agent_name: "clerk", message: "Do it." }, { timeoutMs: 90_000 });
  expect(result).toMatchObject({ content: "Done.", structured: { agentName: "clerk", state: "completed" } });
  expect(tasks.size).toBe(1);
});
