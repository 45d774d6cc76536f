import { expect, test, vi } from "vitest";
import type { Bus } from "../bus.ts";
import { SubscriptionConflictError, SubscriptionTakenError, UnroutableError } from "../bus-errors.ts";
import { collector, envelope, text, unique, WAIT } from "./fixtures.ts";

/** Subscriptions: which of them gets a message, how many at once, and until when. */
// Long because: the tests are listed side by side
export function testSubscriptions(create: () => Promise<Bus>): void {
  test.each([
    { name: "With.Capitals" },
    { name: "" },
    { name: "x".repeat(101) },
    { topics: [] },
    { concurrency: 0 },
    { concurrency: 2, prefetch: 1 },
    { isFurther: true, kind: "copy" as const },
  ])("refuses a subscription with %j", async (wrong) => {
    await using bus = await create();
    await expect(bus.subscribe({ ...unique().options, ...wrong }, async () => {})).rejects.toBeInstanceOf(RangeError);
  });

  test("keeps messages for a service while no consumer is there", async () => {
    await using bus = await create();
    const { topic, options } = unique();
    await (await bus.subscribe(options, async () => {}))[Symbol.asyncDispose]();
    await bus.publish(envelope(topic, "kept"), { mandatory: true });
    const received = collector();
    await using _ = await bus.subscribe(options, received.handler);
    expect((await received.take(1)).map(text)).toEqual(["kept"]);
  });

  test("keeps answers while their owner is away", async () => {
    await using bus = await create();
    const { topic, options } = unique({ kind: "result" });
    await (await bus.subscribe(options, async () => {}))[Symbol.asyncDispose]();
    await bus.publish(envelope(topic, "kept"), { mandatory: true });
    const received = collector();
    await using _ = await bus.subscribe(options, received.handler);
    expect((await received.take(1)).map(text)).toEqual(["kept"]);
  });

  test("gives each answer to the owner and to its successor, refuses a third, and leaves the successor what the owner has not taken", async () => {
    await using bus = await create();
    await using other = await create();
    const { topic, options } = unique({ kind: "result" });
    const [first, second] = [collector(), collector()];
    const owner = await bus.subscribe(options, first.handler);
    const isShared = bus.traits.isDurable; // between buses
    await using _successor = await (isShared ? other : bus).subscribe(options, second.handler);
    await expect(bus.subscribe(options, async () => {})).rejects.toBeInstanceOf(SubscriptionTakenError);
    const bodies = Array.from({ length: 20 }, (_, index) => String(index));
    for (const body of bodies) await bus.publish(envelope(topic, body), { mandatory: true });
    expect((await first.take(20)).map(text)).toEqual(bodies);
    expect((await second.take(20)).map(text)).toEqual(bodies);

    await owner[Symbol.asyncDispose]();
    await bus.publish(envelope(topic, "left"), { mandatory: true });
    await vi.waitFor(() => expect(second.messages.map(text)).toContain("left"), WAIT);
    await vi.waitFor(async () => expect(await bus.inspect(options.name)).toEqual({ consumers: 1, messages: 0 }), WAIT);
    const third = collector();
    await using _third = await vi.waitFor(() => bus.subscribe(options, third.handler), WAIT); // the place is free soon
    await bus.publish(envelope(topic, "again"), { mandatory: true });
    expect((await third.take(1)).map(text)).toEqual(["again"]);
    await vi.waitFor(() => expect(second.messages.map(text)).toContain("again"), WAIT);
  });

  test("a successor that ends leaves the owner alone, and its place to another", async () => {
    await using bus = await create();
    const { topic, options } = unique({ kind: "result" });
    const [first, next] = [collector(), collector()];
    await using _owner = await bus.subscribe(options, first.handler);
    await (await bus.subscribe(options, async () => {}))[Symbol.asyncDispose]();
    await using _next = await bus.subscribe(options, next.handler);
    await bus.publish(envelope(topic, "to both"), { mandatory: true });
    expect((await first.take(1)).map(text)).toEqual(["to both"]);
    expect((await next.take(1)).map(text)).toEqual(["to both"]);
  });

  test("ends a copy subscription with its owner", async () => {
    await using bus = await create();
    const { topic, options } = unique({ kind: "copy" });
    await (await bus.subscribe(options, async () => {}))[Symbol.asyncDispose]();
    await expect(bus.publish(envelope(topic, "gone"), { mandatory: true })).rejects.toBeInstanceOf(UnroutableError);
  });

  test("runs at most `concurrency` handlers at once", async () => {
    await using bus = await create();
    const { topic, options } = unique({ concurrency: 3 });
    let running = 0;
    let most = 0;
    let done = 0;
    await using _ = await bus.subscribe(options, async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      done++;
    });
    await Promise.all(Array.from({ length: 20 }, (_, index) => bus.publish(envelope(topic, String(index)))));
    await vi.waitFor(() => expect(done).toBe(20), WAIT);
    expect(most).toBe(3);
  });

  test("a further subscription takes what the first has no room for, until it ends", async () => {
    await using bus = await create();
    const { topic, options } = unique({ concurrency: 1, prefetch: 1 });
    const first: string[] = [];
    let endFirst = (): void => {};
    await using _ = await bus.subscribe(options, async (message) => {
      first.push(text(message));
      if (first.length === 1) await new Promise<void>((resolve) => (endFirst = resolve));
    });
    await bus.publish(envelope(topic, "held"));
    await vi.waitFor(() => expect(first).toEqual(["held"]), WAIT);
    const received = collector();
    const further = await bus.subscribe({ ...options, isFurther: true }, received.handler);
    for (const body of ["1", "2", "3"]) await bus.publish(envelope(topic, body));
    expect((await received.take(3)).map(text)).toEqual(["1", "2", "3"]);
    await further[Symbol.asyncDispose]();
    await bus.publish(envelope(topic, "4"));
    endFirst();
    await vi.waitFor(() => expect(first).toEqual(["held", "4"]), WAIT);
  });

  test("disposal of a subscription waits for running handlers and takes no new messages", async () => {
    await using bus = await create();
    const { topic, options } = unique({ concurrency: 1 });
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const handled: string[] = [];
    const subscription = await bus.subscribe(options, async (message) => {
      started.resolve();
      await finish.promise;
      handled.push(text(message));
    });
    await bus.publish(envelope(topic, "running"));
    await bus.publish(envelope(topic, "waiting"));
    await started.promise;
    let isDisposed = false;
    const disposal = Promise.all([subscription[Symbol.asyncDispose](), subscription[Symbol.asyncDispose]()]).then(
      () => {
        isDisposed = true;
      },
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isDisposed).toBe(false);
    finish.resolve();
    await disposal;
    expect(handled).toEqual(["running"]);
    const received = collector();
    await using _ = await bus.subscribe(options, received.handler);
    expect((await received.take(1)).map(text)).toEqual(["waiting"]);
  });

  test("disposal aborts handlers that outlast the drain time", async () => {
    await using bus = await create();
    const { topic, options } = unique({ drainMs: 30 });
    const aborted = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const subscription = await bus.subscribe(options, async (_message, { signal }) => {
      started.resolve();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      aborted.resolve();
    });
    await bus.publish(envelope(topic, "endless"));
    await started.promise;
    await subscription[Symbol.asyncDispose]();
    await aborted.promise;
  });

  test("gives what a handler did not finish by the end of the drain time to the next consumer", async () => {
    await using bus = await create();
    const { topic, options } = unique({ drainMs: 30 });
    const started = Promise.withResolvers<void>();
    const subscription = await bus.subscribe(options, async (_message, { signal }) => {
      started.resolve();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      throw signal.reason;
    });
    await bus.publish(envelope(topic, "unfinished"));
    await started.promise;
    await subscription[Symbol.asyncDispose]();
    const received: [string, boolean][] = [];
    await using _ = await bus.subscribe(
      options,
      async (message, { isRedelivered }) => void received.push([text(message), isRedelivered]),
    );
    await vi.waitFor(() => expect(received).toEqual([["unfinished", true]]), WAIT);
  });

  test("says how many consumers a subscription has", async () => {
    await using bus = await create();
    const { options } = unique();
    expect(await bus.inspect(options.name)).toBeUndefined();
    const first = await bus.subscribe(options, async () => {});
    const second = await bus.subscribe(options, async () => {});
    expect((await bus.inspect(options.name))?.consumers).toBe(2);
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    expect((await bus.inspect(options.name))?.consumers).toBe(0);
  });

  test("refuses a subscription whose name exists with another kind", async () => {
    await using bus = await create();
    const { options } = unique();
    await using _ = await bus.subscribe(options, async () => {});
    await expect(bus.subscribe({ ...options, kind: "result" }, async () => {})).rejects.toBeInstanceOf(
      SubscriptionConflictError,
    );
    await expect(bus.publish(envelope("still.alive", "yes"))).resolves.toBeUndefined();
  });
}
