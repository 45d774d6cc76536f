import { describe, expect, test, vi } from "vitest";
import type { Bus, Delivery } from "../bus.ts";
import { DeadLetterError, UnroutableError } from "../bus-errors.ts";
import { createRequester, type Detour } from "../requester.ts";
import { collector, envelope, replies, text, unique, WAIT } from "./fixtures.ts";

/** What goes by the fast lane, and what becomes of it where nobody takes it. */
export function testFastLane(create: () => Promise<Bus>): void {
  describe("the fast lane", () => {
    test("leads to its own subscriptions, and nothing else does", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      const [durable, fast] = [collector(), collector()];
      await using _durable = await bus.subscribe(options, durable.handler);
      await expect(bus.publish(envelope(topic, "early"), { mandatory: true, lane: "fast" })).rejects.toBeInstanceOf(
        UnroutableError,
      );
      await using _fast = await bus.subscribe({ ...options, lane: "fast" }, fast.handler);
      await bus.publish(envelope(topic, "fast"), { mandatory: true, lane: "fast" });
      await bus.publish(envelope(topic, "durable"), { mandatory: true });
      await bus.publish(envelope(topic, "transient"), { mandatory: true, isTransient: true });
      expect((await durable.take(2)).map(text)).toEqual(["durable", "transient"]);
      expect((await fast.take(1)).map(text)).toEqual(["fast"]);
    });

    test("brings a message whose handler throws once more, then drops it, and parks none", async () => {
      await using bus = await create();
      const { topic, options } = unique({ concurrency: 1 });
      const seen: [string, boolean][] = [];
      await using _durable = await bus.subscribe(options, async () => {});
      await using _fast = await bus.subscribe(
        { ...options, lane: "fast" },
        async (message, { isRedelivered }: Delivery) => {
          seen.push([text(message), isRedelivered]);
          if (text(message) === "fails") throw new Error("no");
          if (text(message) === "dead") throw new DeadLetterError("no");
        },
      );
      for (const body of ["fails", "dead", "fine"]) await bus.publish(envelope(topic, body), { lane: "fast" });
      await vi.waitFor(() => expect(seen.length).toBe(4), WAIT);
      expect(seen.toSorted()).toEqual([
        ["dead", false],
        ["fails", false],
        ["fails", true],
        ["fine", false],
      ]);
      expect((await bus.inspect(options.name, "parked"))?.messages).toBe(0);
    });

    test.each<[string, boolean, Detour]>([
      ["where nobody takes from the lane", false, "not_taken"],
      ["where a reply wants that", true, "maybe_taken"],
    ])("has a request asked by the durable way, once, %s", async (_, hasLane, expected) => {
      await using bus = await create();
      const { topic, options } = unique();
      const reply = (body: string) => async (request: { readonly replyTo?: string | undefined }) =>
        bus.publish(envelope(request.replyTo ?? "", body, { correlationId: "c" }));
      await using _durable = await bus.subscribe(options, reply("answer"));
      await using _fast = hasLane
        ? await bus.subscribe({ ...options, lane: "fast" }, async (request) => {
            await reply("again")(request);
            await reply("again")(request);
          })
        : undefined;
      await using requester = createRequester(bus, replies());
      const whys: Detour[] = [];
      const answer = await requester.request(envelope(topic, "x", { correlationId: "c" }), {
        timeoutMs: 10_000,
        accept: (received) => (text(received) === "again" ? "again" : true),
        durably: (why) => {
          whys.push(why);
          return envelope(topic, "y", { correlationId: "c" });
        },
      });
      expect(text(answer)).toBe("answer");
      expect(whys).toEqual([expected]);
    });
  });
}
