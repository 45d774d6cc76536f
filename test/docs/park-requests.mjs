// Publishes requests that no service can handle: node park-requests.mjs BROKER [URL]
// With a URL they ask to read that page, and expire before a service takes them. Else nobody can read or answer them.
import { connect } from "amqplib";

const [broker, url] = process.argv.slice(2);
const connection = await connect(broker);
const channel = await connection.createConfirmChannel();
for (let count = 0; count < 3; count++) {
  const toolCallId = crypto.randomUUID().replaceAll("-", "");
  const request = JSON.stringify({
    toolCallId,
    toolName: "web_browse",
    arguments: JSON.stringify({ url }),
    sessionId: null,
  });
  channel.publish("rockbot", "tool.invoke", Buffer.from(url === undefined ? "no request" : request), {
    type: "RockBot.Tools.ToolInvokeRequest",
    messageId: toolCallId,
    contentType: "application/json",
    deliveryMode: 2,
    headers: { "rb-source": "nobody" },
    ...(url === undefined
      ? { replyTo: "elsewhere" }
      : { correlationId: toolCallId, replyTo: "tool.result.nobody", expiration: 1 }),
  });
}
await channel.waitForConfirms();
await connection.close();
