import { newId } from "@rockbot/contracts";
import { sharedAmqpUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { connectBus } from "../rabbitmq-bus.ts";

const url = await sharedAmqpUrl();

test("asking for a queue that is not there costs those nothing who ask for others meanwhile", async () => {
  await using bus = await connectBus(url);
  const name = `asked-${newId().slice(0, 8)}`;
  await using _served = await bus.subscribe({ name, topics: [`tool.invoke.${name}`] }, async () => {});

  for (let round = 0; round < 3; round++) {
    const [served, missing, again] = await Promise.all([
      bus.inspect(name),
      bus.inspect(`${name}-missing`),
      bus.inspect(name, "parked"),
    ]);
    expect(served).toMatchObject({ consumers: 1 });
    expect(missing).toBeUndefined();
    expect(again).toMatchObject({ messages: 0 });
  }
});
