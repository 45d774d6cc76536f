import { createEnvelope, encodeMessage, errorReply, messages, newId, ToolError } from "@rockbot/contracts";
import { createToolCaller, serveTools, type Tool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { verifiedHost } from "./verified-broker.ts";
import { connect, POLICY, whoTool } from "./verified-system.ts";

test("where senders are verified a call by the fast lane is its caller's, and nobody but its service sends it the durable way", {
  timeout: 120_000,
}, async () => {
  await using broker = await verifiedHost(POLICY);
  await using service = await connect(broker, "echoes");
  const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hold = () => {
    started.resolve();
    return released.promise;
  };
  const who = whoTool("echo_who", { hold, readOnly: true });
  const tools = who.tools.map((tool): Tool => ({ ...tool, definition: { ...tool.definition, fast: true } }));
  await using _tools = await serveTools(service, { ...who, tools }, { service: "echoes", policy: broker.policy });
  await using researcher = await connect(broker, "researcher");
  await using caller = await createToolCaller(researcher, { agent: "researcher", policy: broker.policy });
  await caller.discovered();

  const toolCallId = newId();
  const call = caller.call("echo_who", {}, { toolCallId, timeoutMs: 100_000 });
  await started.promise;
  await using thief = await connect(broker, "thief");
  const error = new ToolError("unavailable", "Ask again");
  const forged = createEnvelope({
    topic: "tool.result.researcher",
    type: messages.ToolError.type,
    source: "echoes",
    correlationId: toolCallId,
    body: encodeMessage("ToolError", errorReply({ toolCallId, toolName: "echo_who" }, error)),
    headers: { "rb-lane": "durable" },
  });
  await thief.publish(forged, { mandatory: true });
  await thief.publish({ ...forged, messageId: newId() }, { mandatory: true, isTransient: true });
  released.resolve();
  await expect(call).resolves.toMatchObject({ content: "researcher" });
  expect(await caller.journal.find(toolCallId)).toMatchObject({ lane: "fast", state: "answered" });
});
