import { describe, expect, test } from "vitest";
import type { Bus } from "../bus.ts";
import { BusClosedError } from "../bus-errors.ts";
import { collector, envelope, unique } from "./fixtures.ts";
import { testDelivery } from "./test-delivery.ts";
import { testFailures } from "./test-failures.ts";
import { testFastLane } from "./test-fast-lane.ts";
import { testParked } from "./test-parked.ts";
import { testRequests } from "./test-requests.ts";
import { testSubscriptions } from "./test-subscriptions.ts";

/** The traits of the bus under test. */
export interface TestBusOptions {
  /** The value of `traits.isDurable`. A durable bus must keep messages while nobody consumes. */
  readonly isDurable: boolean;
}

/**
 * The promises of every bus, as tests. `create` connects anew each time. Tests use names of their own, so that they do
 * not meet on a broker they share. The test file of an adapter is one call of this function.
 */
export function testBus(name: string, create: () => Promise<Bus>, { isDurable }: TestBusOptions): void {
  describe(name, () => {
    test("says what it promises beyond the common contract", async () => {
      await using bus = await create();
      expect(bus.traits.isDurable).toBe(isDurable);
      expect(bus.isReady).toBe(true);
    });
    testDelivery(create);
    testSubscriptions(create);
    testFailures(create);
    testParked(create, isDurable);
    testRequests(create);
    testFastLane(create);

    test("refuses everything once it is closed, and closes once", async () => {
      const bus = await create();
      await Promise.all([bus[Symbol.asyncDispose](), bus[Symbol.asyncDispose]()]);
      await bus[Symbol.asyncDispose]();
      expect(bus.isReady).toBe(false);
      await expect(bus.publish(envelope("any.topic", "late"))).rejects.toBeInstanceOf(BusClosedError);
      await expect(bus.subscribe(unique().options, async () => {})).rejects.toBeInstanceOf(BusClosedError);
    });

    test("closing flushes what is being published", async () => {
      const bus = await create();
      const { topic, options } = unique();
      await (await bus.subscribe(options, async () => {}))[Symbol.asyncDispose]();
      const publishing = Array.from({ length: 50 }, (_, index) =>
        bus.publish(envelope(topic, String(index)), { mandatory: true }),
      );
      await bus[Symbol.asyncDispose]();
      await Promise.all(publishing);
      if (!isDurable) return; // what was published ends with the process
      await using later = await create();
      const received = collector();
      await using _ = await later.subscribe(options, received.handler);
      expect((await received.take(50)).length).toBe(50);
    });
  });
}
