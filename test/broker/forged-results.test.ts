import { createEnvelope, encodeMessage, messages, newId } from "@rockbot/contracts";
import { startTelemetry } from "@rockbot/process/telemetry";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { openRawChannel } from "./raw-channel.ts";
import { openRawUser } from "./raw-user.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect, POLICY, whoTool } from "./verified-system.ts";

/** More than a result subscription takes at a time, so that all of them have to be acknowledged. */
const STRAYS = 1_500;

test("T04: a result of another service than the tool's is dropped and counted, and so is what came past its sender's rights", {
  timeout: 120_000,
}, async () => {
  await using telemetry = await startTelemetry({ service: "identity", logTo: "stderr" });
  await using broker = await verifiedHost(POLICY);
  await using service = await connect(broker, "echoes");
  const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hold = () => {
    started.resolve();
    return released.promise;
  };
  await using _tools = await serveTools(service, whoTool("echo_who", { hold }), {
    service: "echoes",
    policy: broker.policy,
  });
  await using researcher = await connect(broker, "researcher");
  await using caller = await createToolCaller(researcher, { agent: "researcher", policy: broker.policy });
  await caller.discovered();
  const count = async (line: string) =>
    Number(
      (await telemetry.metricsText())
        .split("\n")
        .find((text) => text.startsWith(line))
        ?.split(" ")
        .at(-1) ?? 0,
    );

  const toolCallId = newId();
  const call = caller.call("echo_who", {}, { toolCallId, timeoutMs: 100_000 });
  call.catch(() => {}); // awaited at the end
  await started.promise;
  await using thief = await connect(broker, "thief");
  const body = encodeMessage("ToolInvokeResponse", {
    toolCallId,
    toolName: "echo_who",
    content: "forged",
    isError: false,
  });
  const forged = createEnvelope({
    topic: "tool.result.researcher",
    type: messages.ToolInvokeResponse.type,
    source: "echoes",
    correlationId: toolCallId,
    body,
  });
  for (let i = 0; i < 10; i++) await thief.publish({ ...forged, messageId: newId() });
  await expect.poll(() => count('rockbot_tool_messages_forged_total{kind="result"}'), { timeout: 20_000 }).toBe(10);

  // Dead letters of a queue of one's own go to any key; so do further keys in a header, on RabbitMQ 3.
  await using raw = await openRawChannel(broker.urlOf("writer"));
  const detour = {
    "x-dead-letter-exchange": "rockbot",
    "x-dead-letter-routing-key": "tool.result.researcher",
    "x-message-ttl": 1,
  };
  const { queue } = await raw.channel.assertQueue("rockbot.copy.writer.1", { exclusive: true, arguments: detour });
  await raw.channel.bindQueue(queue, "rockbot", "tool.result.writer");
  const properties = { correlationId: toolCallId, type: messages.ToolInvokeResponse.type, userId: "thief" };
  await using rawThief = await openRawChannel(broker.urlOf("thief"));
  for (let i = 0; i < STRAYS; i++)
    rawThief.channel.publish("rockbot", "tool.result.writer", Buffer.from(body), properties);
  await expect
    .poll(() => count('rockbot_messaging_refused_messages_total{messaging_subscription="result"}'), { timeout: 20_000 })
    .toBe(STRAYS);

  await using writer = await openRawUser(broker.urlOf("writer"));
  const { userId: _, ...unsigned } = properties;
  const further = await writer.publish("rockbot", "tool.announce.probe", {
    ...unsigned,
    BCC: ["tool.result.researcher"],
  });
  const dropped = STRAYS + (further === "granted" ? 1 : 0);
  await expect
    .poll(() => count('rockbot_messaging_refused_messages_total{messaging_subscription="result"}'), { timeout: 20_000 })
    .toBe(dropped);

  released.resolve();
  expect((await call).content).toBe("researcher");
});
