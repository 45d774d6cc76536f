import { type Channel, connect } from "amqplib";

/** A channel of amqplib itself, to do what the bus does not. */
export async function openRawChannel(url: string): Promise<AsyncDisposable & { readonly channel: Channel }> {
  const connection = await connect(url, { noDelay: true });
  connection.on("error", () => {}); // tests see what they look for, or not
  const channel = await connection.createChannel();
  channel.on("error", () => {});
  return { channel, [Symbol.asyncDispose]: () => connection.close() };
}
