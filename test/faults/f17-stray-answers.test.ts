import { createEnvelope, encodeMessage, messages, newId } from "@rockbot/contracts";
import { sharedAmqpUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startEffectService } from "./effects/start-effect-service.ts";
import { record } from "./figures.ts";
import { openScene } from "./scene.ts";

const busUrl = await sharedAmqpUrl();

test("F17: answers that are forged, late or of another call are not surfaced, and the right one is", {
  timeout: 60_000,
}, async () => {
  await using scene = await openScene(busUrl);
  const { caller, bus, agent, ledger } = scene;
  const tool = scene.tool("effect");
  await using _service = await startEffectService(scene.service);
  await caller.discovered();
  const send = (correlationId: string, toolCallId: string, toolName: string) =>
    bus.publish(
      createEnvelope({
        topic: `tool.result.${agent}`,
        type: messages.ToolInvokeResponse.type,
        source: "stranger",
        correlationId,
        body: encodeMessage("ToolInvokeResponse", { toolCallId, toolName, content: "forged", isError: false }),
      }),
      { mandatory: true },
    );

  const early = newId();
  expect((await caller.call(tool, { id: "early" }, { toolCallId: early, timeoutMs: 5_000 })).content).toBe("early");
  const toolCallId = newId();
  const other = newId();
  const [call, beside] = [
    caller.call(tool, { id: "right", holdMs: 1_500 }, { toolCallId, timeoutMs: 10_000 }),
    caller.call(tool, { id: "beside", holdMs: 1_500 }, { toolCallId: other, timeoutMs: 10_000 }),
  ];
  await expect.poll(async () => (await ledger.count("effect")).size, { timeout: 5_000 }).toBe(3);
  await send(early, early, tool); // late: its call has ended
  await send(newId(), newId(), tool); // of no call
  await send(toolCallId, toolCallId, scene.tool("read")); // of another tool
  await send(toolCallId, other, tool); // crossed: the id of another call that is out
  await send(toolCallId, newId(), tool); // an id of its own
  await bus.publish(
    createEnvelope({
      topic: `tool.result.${agent}`,
      type: messages.ToolInvokeResponse.type,
      source: "stranger",
      correlationId: toolCallId,
      body: Buffer.from("{}"),
    }),
  );

  expect([(await call).content, (await beside).content]).toEqual(["right", "beside"]);
  await record({
    fault: "F17",
    done: "6 answers that are late, forged, crossed or unreadable while two calls are out",
    figures: { surfaced: 0, lost: 0, crossed: 0 },
  });
  expect((await caller.call(tool, { id: "after" }, { timeoutMs: 5_000 })).content).toBe("after");
});
