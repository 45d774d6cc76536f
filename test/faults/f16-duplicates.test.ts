import { createEnvelope, encodeMessage, Header, messages, newId } from "@rockbot/contracts";
import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { openScene } from "./scene.ts";

const CALLS = atScale(100, 1_000);
const COPIES = 5;
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test(`F16: ${CALLS} requests, each published ${COPIES} times to two replicas at once, have one effect each, and all copies are answered alike`, {
  timeout: 60_000,
}, async () => {
  await using scene = await openScene(busUrl, { redisUrl });
  const { bus, agent, ledger, service } = scene;
  await using _one = await startEffectService(service);
  await using _other = await startEffectService(service);
  const answers = new Map<string, string[]>();
  await using _ = await bus.subscribe(
    { name: `result.${agent}.raw`, topics: [`tool.result.${agent}.raw`], kind: "copy" },
    async ({ correlationId = "", body }) => {
      answers.set(correlationId, [
        ...(answers.get(correlationId) ?? []),
        (JSON.parse(Buffer.from(body).toString()) as { content: string }).content,
      ]);
    },
  );

  const ids = Array.from({ length: CALLS }, () => newId());
  const copies = ids.flatMap((id) => Array.from({ length: COPIES }, () => id));
  await Promise.all(
    copies.map((id) =>
      bus.publish(
        createEnvelope({
          topic: `tool.invoke.${service.service}`,
          type: messages.ToolInvokeRequest.type,
          source: agent,
          body: encodeMessage("ToolInvokeRequest", {
            toolCallId: id,
            toolName: scene.tool("effect"),
            arguments: JSON.stringify({ id, holdMs: 20 }),
          }),
          messageId: id,
          correlationId: id,
          replyTo: `tool.result.${agent}.raw`,
          headers: { [Header.TimeoutMs]: "20000" },
        }),
        { mandatory: true },
      ),
    ),
  );
  await expect.poll(() => [...answers.values()].flat().length, { timeout: 20_000 }).toBe(CALLS * COPIES);

  expect([...answers].filter(([id, contents]) => contents.some((content) => content !== id))).toEqual([]);
  const effects = await ledger.count("effect");
  expect(ids.map((id) => effects.get(id))).toEqual(ids.map(() => 1));
  await record({
    fault: "F16",
    done: `${CALLS} requests, each published ${COPIES} times at once to two replicas`,
    figures: { answers: CALLS * COPIES, lost: 0, "doubled effects": 0, crossed: 0 },
  });
  await expect
    .poll(async () => bus.inspect(service.service), { timeout: 5_000 })
    .toEqual({ consumers: 2, messages: 0 }); // each copy is acknowledged
});

test("F16: a caller that gets one answer several times surfaces it once", { timeout: 60_000 }, async () => {
  await using scene = await openScene(busUrl, { redisUrl });
  const { caller, bus, agent, service } = scene;
  await using _service = await startEffectService(service);
  await caller.discovered();
  const toolCallId = newId();
  const first = caller.call(scene.tool("effect"), { id: "once", holdMs: 300 }, { toolCallId });
  const body = encodeMessage("ToolInvokeResponse", {
    toolCallId,
    toolName: scene.tool("effect"),
    content: "once",
    isError: false,
  });
  await first;
  for (let repeat = 0; repeat < 5; repeat++) {
    await bus.publish(
      createEnvelope({
        topic: `tool.result.${agent}`,
        type: messages.ToolInvokeResponse.type,
        source: service.service,
        correlationId: toolCallId,
        body,
      }),
    );
  }
  const again = await caller.call(scene.tool("effect"), { id: "once", holdMs: 300 }, { toolCallId });
  expect(again.content).toBe("once");
  expect(await scene.ledger.count("effect")).toEqual(new Map([["once", 1]]));
});
