import { setImmediate as nextTurn } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { sharedAmqpUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { textMessage, uniqueName } from "./messages.ts";

const busUrl = await sharedAmqpUrl();

/** Lets this process stand still, as one does that is stopped, collects its garbage or gets no processor time. */
const standStill = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** What is said on the bus's way is with the system now. */
async function untilWritten(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

test("a connection whose own process stood still is kept, and what was asked is answered", {
  timeout: 60_000,
}, async () => {
  const troubles: string[] = [];
  const trouble = (fields: object, text = ""): void => void troubles.push(`${text} ${JSON.stringify(fields)}`);
  const topic = uniqueName();
  await using bus = await connectBus(busUrl, {
    silenceMs: 1_000,
    log: { debug: () => {}, info: () => {}, warn: trouble, error: trouble },
  });
  await using _ = await bus.subscribe({ name: topic, topics: [topic] }, async () => {});

  const published = bus.publish(textMessage(topic, "confirmed while nobody reads"), { mandatory: true });
  await untilWritten();
  standStill(2_500);
  await published;

  const inspected = bus.inspect(topic);
  await untilWritten();
  standStill(1_500);
  expect(await inspected).toMatchObject({ consumers: 1 });
  expect(troubles).toEqual([]);
});
