import { readFileSync } from "node:fs";
import { join } from "node:path";
import { tools } from "@rockbot/contracts";
import { loadConfig } from "@rockbot/process/config";
import { configSchema, startScheduler } from "@rockbot/scheduler";
import { temporaryFolder } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { verifiedHost } from "./verified-broker.ts";
import { connect } from "./verified-system.ts";

const COMPOSE_POLICY = readFileSync(join(import.meta.dirname, "../../docker/policy/policy.yaml"), "utf8");

test("where the broker verifies senders, the policy of compose lets the scheduler run a task on behalf of its caller", async () => {
  using folder = temporaryFolder();
  await using broker = await verifiedHost(COMPOSE_POLICY);
  const { policy } = broker;
  const asked: string[] = [];
  const chat = defineTool(tools.agentChat, async ({ session_id = "" }, { caller, toolCallId: turn_id }) => {
    asked.push(caller);
    return {
      content: "done",
      structured: {
        turn_id,
        session_id,
        text: "done",
        finish: "stop" as const,
        usage: { input_tokens: 9, output_tokens: 1 },
      },
    };
  });
  await using agentBus = await connect(broker, "agent");
  await using _agent = await serveTools(agentBus, { tools: [chat] }, { service: "agent", policy });
  await using schedulerBus = await connect(broker, "scheduler");
  const config = loadConfig(configSchema, { env: { SCHEDULES_FILE: join(folder.path, "schedules.json") } });
  await using _scheduler = await startScheduler(schedulerBus, config, { service: "scheduler", policy });
  await using gatewayBus = await connect(broker, "gateway");
  await using gateway = await createToolCaller(gatewayBus, { agent: "gateway", policy });

  const task = { name: "soon", cron: "* * * * * *", description: "Do it.", run_once: true };
  await gateway.call(tools.scheduleTask.name, task, { onBehalfOf: "cli" });
  await expect.poll(() => asked).toEqual(["cli"]);
  const list = async () => (await gateway.call(tools.listScheduledTasks.name, {}, { onBehalfOf: "cli" })).content;
  await expect.poll(list).toContain("answered: done");
});
