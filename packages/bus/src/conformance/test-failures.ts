import type { Envelope } from "@rockbot/contracts";
import { expect, test, vi } from "vitest";
import { type Bus, type Death, MAX_PARKED_BODY_BYTES } from "../bus.ts";
import { DeadLetterError } from "../bus-errors.ts";
import { collector, envelope, look, parked, settled, text, unique, WAIT } from "./fixtures.ts";

/** The end of a message that is not handled: its time is over, or its handler fails. */
// Long because: the tests are listed side by side
export function testFailures(create: () => Promise<Bus>): void {
  test("never delivers a message after its time to live, and parks it", async () => {
    await using bus = await create();
    const { topic, options } = unique();
    await (await bus.subscribe(options, async () => {}))[Symbol.asyncDispose]();
    await bus.publish(envelope(topic, "stale", { ttlMs: 250 }));
    await new Promise((resolve) => setTimeout(resolve, 300)); // the time to live itself is under test
    await bus.publish(envelope(topic, "fresh", { ttlMs: 60_000 }));
    const received = collector();
    await using _ = await bus.subscribe(options, received.handler);
    expect((await received.take(1)).map(text)).toEqual(["fresh"]);
    await vi.waitFor(async () => expect((await bus.inspect(options.name, "parked"))?.messages).toBe(1), WAIT);
    expect(received.messages.map(text)).toEqual(["fresh"]);
  });

  test("tells whoever gets a message how long it was of use", async () => {
    await using bus = await create();
    const got: Envelope[] = [];
    const { topic, options } = unique();
    const onDeadLetter = async (message: Envelope): Promise<void> => void got.push(message);
    await using _ = await bus.subscribe({ ...options, onDeadLetter }, async (message) => {
      got.push(message);
      throw new Error("fails each time");
    });
    await bus.publish(envelope(topic, "for ever"));
    await parked(bus, options.name, 1);
    await bus.publish(envelope(topic, "for a minute", { ttlMs: 60_000 }));
    await parked(bus, options.name, 2);
    got.push(...(await look(bus, options.name)).map(({ message }) => message));
    const told = (body: string) => got.filter((message) => text(message) === body).map(({ ttlMs }) => ttlMs);
    expect(told("for ever")).toEqual([undefined, undefined, undefined, undefined]); // two tries, the last word, parked
    const left = expect.toSatisfy((ttlMs: number) => ttlMs > 30_000 && ttlMs <= 60_000); // when it went out
    expect(told("for a minute")).toEqual([left, left, left, left]);
  });

  test("tries a message whose handler throws once more, and then it is done", async () => {
    await using bus = await create();
    const attempts: boolean[] = [];
    const { topic, options } = unique();
    await using _ = await bus.subscribe(options, async (_message, { isRedelivered }) => {
      attempts.push(isRedelivered);
      if (attempts.length === 1) throw new Error("the first time fails");
    });
    await bus.publish(envelope(topic, "twice"));
    await vi.waitFor(() => expect(attempts).toEqual([false, true]), WAIT);
    await settled(bus, options.name);
    expect((await bus.inspect(options.name, "parked"))?.messages).toBe(0);
  });

  test("goes on after a second try, also where one handler runs at a time", async () => {
    await using bus = await create();
    const seen: string[] = [];
    const { topic, options } = unique({ concurrency: 1 });
    await using _ = await bus.subscribe(options, async (message, { isRedelivered }) => {
      if (text(message) === "twice" && !isRedelivered) throw new Error("the first time fails");
      await new Promise((resolve) => setTimeout(resolve, 20)); // so that the others find the one place taken
      seen.push(text(message));
    });
    for (const body of ["twice", "next", "last"]) await bus.publish(envelope(topic, body));
    await vi.waitFor(() => expect(seen.toSorted()).toEqual(["last", "next", "twice"]), WAIT);
  });

  test("gives up a message whose handler throws twice: asks for a last word, parks it, and goes on", async () => {
    await using bus = await create();
    const deaths: [string, Death][] = [];
    const { topic, options } = unique({
      onDeadLetter: async (message, death) => {
        deaths.push([text(message), death]);
      },
    });
    const received = collector();
    await using _ = await bus.subscribe(options, async (message, delivery) => {
      if (text(message) === "poison") throw new Error("never works");
      await received.handler(message, delivery);
    });
    await bus.publish(envelope(topic, "poison"));
    await bus.publish(envelope(topic, "innocent"));
    await received.take(1);
    await vi.waitFor(async () => expect((await bus.inspect(options.name, "parked"))?.messages).toBe(1), WAIT);
    expect(deaths).toEqual([["poison", { reason: "failed" }]]);
  });

  test("gives a message that is too large to be parked its last word, and drops it", async () => {
    await using bus = await create();
    const deaths: [number, Death["reason"]][] = [];
    const { topic, options } = unique({
      onDeadLetter: async ({ body }, { reason }) => void deaths.push([body.byteLength, reason]),
    });
    await using _ = await bus.subscribe(options, async (message) => {
      if (text(message) === "rejected") throw new DeadLetterError("not a message of ours");
      throw new Error("never works");
    });
    const large = { body: Buffer.alloc(MAX_PARKED_BODY_BYTES + 1) };
    await bus.publish({ ...envelope(topic, ""), ...large });
    await bus.publish(envelope(topic, "rejected"));
    await parked(bus, options.name, 1);
    await vi.waitFor(() => expect(deaths.map(([, reason]) => reason).sort()).toEqual(["failed", "rejected"]), WAIT);
    expect((await look(bus, options.name)).map(({ message }) => text(message))).toEqual(["rejected"]);
  });

  test("does not try a message again that its handler rejects", async () => {
    await using bus = await create();
    const deaths: Death[] = [];
    let attempts = 0;
    const { topic, options } = unique({
      onDeadLetter: async (_message, death) => {
        deaths.push(death);
        throw new Error("a last word that fails is not the end");
      },
    });
    await using _ = await bus.subscribe(options, async () => {
      attempts++;
      throw new DeadLetterError("not a message of ours");
    });
    await bus.publish(envelope(topic, "odd"));
    await vi.waitFor(async () => expect((await bus.inspect(options.name, "parked"))?.messages).toBe(1), WAIT);
    expect(deaths).toEqual([{ reason: "rejected", message: "not a message of ours" }]);
    expect(attempts).toBe(1);
  });

  test.each(["result", "copy"] as const)(
    "drops a message of a %s subscription whose handler throws, and goes on",
    async (kind) => {
      await using bus = await create();
      const { topic, options } = unique({ kind });
      const received = collector();
      await using _ = await bus.subscribe(options, async (message, delivery) => {
        if (text(message) === "bad") throw new Error("no");
        await received.handler(message, delivery);
      });
      await bus.publish(envelope(topic, "bad"));
      await bus.publish(envelope(topic, "good"));
      expect((await received.take(1)).map(text)).toEqual(["good"]);
    },
  );

  test("survives a handler that throws before it returns a promise", async () => {
    await using bus = await create();
    const { topic, options } = unique({ kind: "copy" });
    const received = collector();
    await using _ = await bus.subscribe(options, (message, delivery) => {
      if (text(message) === "bad") throw new Error("synchronously");
      return received.handler(message, delivery);
    });
    await bus.publish(envelope(topic, "bad"));
    await bus.publish(envelope(topic, "good"));
    expect((await received.take(1)).map(text)).toEqual(["good"]);
  });
}
