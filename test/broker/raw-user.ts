import { type Channel, type ConfirmChannel, connect, type Options } from "amqplib";

/** What one user may try. Each ends in what the broker says. */
export interface RawUser extends AsyncDisposable {
  publish(exchange: string, key: string, options?: Options.Publish): Promise<Verdict>;
  /** Binds a queue of its own. */
  bind(exchange: string, key: string): Promise<Verdict>;
  bindExchange(destination: string, source: string, key: string): Promise<Verdict>;
  declareQueue(name: string, args?: Record<string, unknown>): Promise<Verdict>;
  deleteQueue(name: string): Promise<Verdict>;
  purge(name: string): Promise<Verdict>;
  get(name: string): Promise<Verdict>;
  consume(name: string): Promise<Verdict>;
  declareExchange(name: string): Promise<Verdict>;
  deleteExchange(name: string): Promise<Verdict>;
}

/** `refused`: by the broker, for want of rights or because a sender's name is not true. */
export type Verdict = "granted" | "refused";

/** ACCESS_REFUSED; RESOURCE_LOCKED is what another connection's exclusive queue says; 406 a false sender. */
const REFUSALS: ReadonlySet<unknown> = new Set([403, 405, 406]);
/** The status for a missing name, which only a user with the right to look gets. */
const NOT_FOUND = 404;

/** A connection of amqplib itself, for requests of the test, each on a channel of its own. */
export async function openRawUser(url: string): Promise<RawUser> {
  const connection = await connect(url, { noDelay: true });
  connection.on("error", () => {});

  async function attempt(operation: (channel: ConfirmChannel) => Promise<unknown>): Promise<Verdict> {
    const channel = await connection.createConfirmChannel();
    let code: unknown;
    channel.on("error", (error: { readonly code?: unknown }) => {
      code = error.code;
    });
    const closed = new Promise((resolve) => channel.once("close", resolve)); // not `once`, which an error ends
    try {
      await operation(channel);
      await channel.waitForConfirms();
      await channel.close();
      return "granted";
    } catch (error) {
      await closed;
      if (REFUSALS.has(code)) return "refused";
      if (code === NOT_FOUND) return "granted";
      throw error;
    }
  }

  const ownQueue = async (channel: Channel) =>
    (await channel.assertQueue(`rockbot.copy.${new URL(url).username}.0`, { exclusive: true })).queue;
  return {
    publish: (exchange, key, options = {}) =>
      attempt(async (channel) => channel.publish(exchange, key, Buffer.from("{}"), options)),
    bind: (exchange, key) => attempt(async (channel) => channel.bindQueue(await ownQueue(channel), exchange, key)),
    bindExchange: (destination, source, key) => attempt((channel) => channel.bindExchange(destination, source, key)),
    declareQueue: (name, args = {}) =>
      attempt((channel) => channel.assertQueue(name, { durable: true, arguments: args })),
    deleteQueue: (name) => attempt((channel) => channel.deleteQueue(name)),
    purge: (name) => attempt((channel) => channel.purgeQueue(name)),
    get: (name) => attempt((channel) => channel.get(name, { noAck: true })),
    consume: (name) => attempt((channel) => channel.consume(name, () => {})),
    declareExchange: (name) => attempt((channel) => channel.assertExchange(name, "topic", { durable: true })),
    deleteExchange: (name) => attempt((channel) => channel.deleteExchange(name)),
    [Symbol.asyncDispose]: () => connection.close(),
  };
}
