// Publishes requests that expire before a service takes them: node park-requests.mjs BROKER PAGE
import { connect } from "amqplib";

const [broker, url] = process.argv.slice(2);
const connection = await connect(broker);
const channel = await connection.createConfirmChannel();
for (let count = 0; count < 3; count++) {
  const toolCallId = crypto.randomUUID().replaceAll("-", "");
  const body = { toolCallId, toolName: "web_browse", arguments: JSON.stringify({ url }), sessionId: null };
  channel.publish("rockbot", "tool.invoke", Buffer.from(JSON.stringify(body)), {
    type: "RockBot.Tools.ToolInvokeRequest",
    messageId: toolCallId,
    correlationId: toolCallId,
    replyTo: "tool.result.nobody",
    contentType: "application/json",
    deliveryMode: 2,
    expiration: 1,
    headers: { "rb-source": "nobody" },
  });
}
await channel.waitForConfirms();
await connection.close();
