/**
 * An agent that has gone bad, as a process of its own: `node abusive-agent-service.ts URL FLOOD`, see floods.ts. Publishes as fast as its broker
 * takes it, with nothing of ours but the form of the messages, until SIGTERM; then says how many it was.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect } from "amqplib";
import { type FloodName, floods, publication } from "./floods.ts";

const [, , url = "", name = ""] = process.argv;
const flood = floods[name as FloodName];
let published = 0;
let refusal = "";
process.once("SIGTERM", () => process.stdout.write(`${JSON.stringify({ published, refusal })}\n`, () => process.exit()));
/** Messages in a row before this process looks around. */
const BATCH = 64;

for (;;) {
  try {
    await publishUntilRefused();
  } catch (error) {
    refusal = String(error);
    await new Promise((resolve) => setTimeout(resolve, 100)); // it tries again, as such an agent would
  }
}
async function publishUntilRefused(): Promise<void> {
  const connection = await connect(url, { noDelay: true });
  let failure: Error | undefined;
  const onError = (error: Error): void => {
    failure = error;
  };
  connection.on("error", onError);
  connection.on("close", () => onError(new Error("closed")));
  const channel = await connection.createChannel();
  channel.on("error", onError);
  const { stream } = connection.connection as unknown as { readonly stream: { readonly writableLength: number } };
  while (failure === undefined) {
    for (let i = 0; i < BATCH && stream.writableLength < 16 * 1024 * 1024; i++) {
      const { routingKey, body, properties } = publication(flood());
      channel.publish("rockbot", routingKey, body, properties);
      published++;
    }
    await nextTurn();
  }
  throw failure;
}
