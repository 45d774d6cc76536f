import { createEnvelope, encodeMessage, messages, newId } from "@rockbot/contracts";
import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import type { AgentOptions } from "./agent/agent-options.ts";
import { settleCall, tally, unharmed } from "./agent/settle-calls.ts";
import { agentReport, startAgent } from "./agent/start-agent.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { record } from "./figures.ts";
import { openScene } from "./scene.ts";

const CALLS = 100;
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test(`F10: an agent that is killed with ${CALLS} calls out and started again surfaces its own answers only, and nobody else gets any`, {
  timeout: 60_000,
}, async () => {
  await using scene = await openScene(busUrl, { redisUrl });
  const { ledger, service, agent } = scene;
  await using _service = await startEffectService({ ...service, concurrency: CALLS });
  const overheard: string[] = [];
  await using _ = await scene.bus.subscribe(
    { name: `result.${agent}.spy`, topics: [`tool.result.${agent}.spy`], kind: "copy" },
    async (message) => {
      overheard.push(message.correlationId ?? "");
    },
  );
  const options: AgentOptions = {
    busUrl,
    agent: `killed-${service.service}`,
    tool: scene.tool("effect"),
    prefix: "first",
    calls: CALLS,
    holdMs: 1_500,
  };
  await using first = startAgent(options);
  await expect.poll(async () => (await ledger.count("effect")).size, { timeout: 15_000 }).toBe(CALLS);
  first.kill("SIGKILL");
  await first.ended;
  expect(first.stdout()).not.toContain("[");
  await expect.poll(async () => (await ledger.count("answered")).size, { timeout: 15_000 }).toBe(CALLS); // they wait on the agent's queue

  await using second = startAgent({ ...options, prefix: "second", holdMs: 0 });
  const { settled } = await agentReport(second);
  const ended = tally(settled, await ledger.count("effect"));
  expect(ended).toEqual(unharmed({ ok: CALLS }));
  expect(overheard).toEqual([]);
  expect((await scene.bus.inspect(`result.${options.agent}`))?.messages).toBe(0); // the answers to the dead are taken and dropped
  const effects = await ledger.count("effect");
  expect([effects.size, Math.max(...effects.values())]).toEqual([2 * CALLS, 1]);
  await record({
    fault: "F10",
    done: `agent killed with ${CALLS} calls out, and started again`,
    figures: { ...ended, "others' answers": 0, ghosts: 0 },
  });
});

test("F11: a request whose caller has no queue is run once and done with, and delays nobody", {
  timeout: 60_000,
}, async () => {
  await using scene = await openScene(busUrl, { redisUrl });
  const { bus, caller, ledger } = scene;
  const { service } = scene.service;
  await using _service = await startEffectService(scene.service);
  await caller.discovered();
  const ids = Array.from({ length: 20 }, () => newId());
  for (const id of ids) {
    await bus.publish(
      createEnvelope({
        topic: `tool.invoke.${service}`,
        type: messages.ToolInvokeRequest.type,
        source: scene.agent,
        body: encodeMessage("ToolInvokeRequest", {
          toolCallId: id,
          toolName: scene.tool("effect"),
          arguments: JSON.stringify({ id }),
        }),
        messageId: id,
        correlationId: id,
        replyTo: `tool.result.gone-${service}`,
      }),
    );
  }
  await expect.poll(async () => (await ledger.count("effect")).size, { timeout: 10_000 }).toBe(ids.length);
  const after = await settleCall(caller, scene.tool("effect"), { id: "after" }, { timeoutMs: 5_000 });
  expect(after.outcome).toBe("ok");
  for (const part of ["main", "retry", "dlq", "parked"] as const) {
    await expect.poll(async () => (await bus.inspect(service, part))?.messages, { timeout: 5_000 }).toBe(0);
  }
  expect(Math.max(...(await ledger.count("effect")).values())).toBe(1);
  await record({
    fault: "F11",
    done: `${ids.length} requests whose caller has no queue`,
    figures: { "runs of each": 1, "left in queues": 0 },
  });
});
