/**
 * An agent that has gone bad, as a process of its own: `node abusive-agent-service.ts JSON`. Publishes as fast as its
 * broker takes it, with nothing of ours but the form of the messages, until SIGTERM. Says "begun" after the first of
 * them, or the first refusal, and at its end how many it was, as JSON. It has what others leave of the processor: in
 * production it runs elsewhere.
 */
import { writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect } from "amqplib";
import { type FloodName, floods, publication } from "./floods.ts";

export interface AbusiveAgentOptions {
  readonly url: string;
  readonly flood: FloodName;
  /** Where it publishes. @default where the flood does */
  readonly topic?: string | undefined;
  /** @default as many as the broker takes */
  readonly perSecond?: number | undefined;
}

const {
  url,
  flood,
  topic,
  perSecond = Number.POSITIVE_INFINITY,
} = JSON.parse(process.argv[2] ?? "{}") as AbusiveAgentOptions;
const user = new URL(url).username;
const next = floods[flood];
let published = 0;
let refusal = "";
let hasBegun = false;
setPriority(constants.priority.PRIORITY_LOW);
await writeFile("/proc/self/autogroup", String(constants.priority.PRIORITY_LOW)).catch(() => {}); // the same of its session, where the system has that
process.once("SIGTERM", () =>
  process.stdout.write(`${JSON.stringify({ published, refusal })}\n`, () => process.exit()),
);
/** Messages in a row before this process looks around. */
const BATCH = 64;
const start = performance.now();

for (;;) {
  try {
    await publishUntilRefused();
  } catch (error) {
    refusal = String(error);
    begin();
    await new Promise((resolve) => setTimeout(resolve, 100)); // it tries again, as such an agent would
  }
}

function begin(): void {
  if (!hasBegun) process.stdout.write("begun\n");
  hasBegun = true;
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
    const due = ((performance.now() - start) / 1_000) * perSecond;
    for (let i = 0; i < BATCH && published < due && stream.writableLength < 16 * 1024 * 1024; i++) {
      const { routingKey, body, properties } = publication(next(), user);
      channel.publish("rockbot", topic ?? routingKey, body, properties);
      published++;
    }
    begin();
    await nextTurn();
  }
  throw failure;
}
