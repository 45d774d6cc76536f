import { describe, expect, test } from "vitest";
import type { Bus, ParkedMessage } from "../bus.ts";
import { DeadLetterError } from "../bus-errors.ts";
import { envelope, look, park, parked, text, unique } from "./fixtures.ts";

/** How messages that were given up are looked at, and removed. */
export function testParked(create: () => Promise<Bus>, isDurable: boolean): void {
  describe("parked messages", () => {
    test("are shown oldest first, each as it was published, with why and when it was parked", async () => {
      await using bus = await create();
      const before = Date.now();
      const { topic, options } = unique();
      const sent = envelope(topic, "héllo", {
        correlationId: "c-1",
        replyTo: "tool.result.someone",
        destination: "someone",
        headers: { "rb-timeout-ms": "60000", custom: "värde" },
      });
      {
        await using _ = await bus.subscribe(options, async (message) => {
          if (text(message) === "poison") throw new Error("never works");
          throw new DeadLetterError("not a message of ours");
        });
        await bus.publish(sent);
        await parked(bus, options.name, 1);
        await bus.publish(envelope(topic, "poison"));
        await parked(bus, options.name, 2);
      }
      await bus.publish(envelope(topic, "stale", { ttlMs: 250 }));
      await new Promise((resolve) => setTimeout(resolve, 300)); // the time to live itself is under test
      await using _ = await bus.subscribe(options, async () => {});
      await parked(bus, options.name, 3);
      const seen = await look(bus, options.name);
      expect(seen.map(({ message, reason, why }) => [text(message), reason, why, message.ttlMs])).toEqual([
        ["héllo", "rejected", "not a message of ours", undefined],
        ["poison", "failed", undefined, undefined],
        ["stale", "expired", undefined, 250],
      ]);
      const { message, parkedAt = 0 } = seen[0] as ParkedMessage;
      expect({ ...message, body: text(message), headers: { ...message.headers }, userId: undefined }).toEqual({
        ...sent,
        body: "héllo",
        userId: undefined,
      });
      expect(parkedAt).toBeGreaterThanOrEqual(before);
      expect(parkedAt).toBeLessThanOrEqual(Date.now());
    });

    test("are removed if the visitor says so, and the others keep their order, however often they are looked at", async () => {
      await using bus = await create();
      const name = await park(bus, 6);
      expect(
        await bus.visitParked(name, async ({ message }) => (["1", "4"].includes(text(message)) ? "remove" : "keep")),
      ).toBe(6);
      for (let looks = 0; looks < 30; looks++)
        expect((await look(bus, name)).map(({ message }) => text(message))).toEqual(["0", "2", "3", "5"]);
      await using another = await create();
      if (isDurable)
        expect((await look(another, name)).map(({ message }) => text(message))).toEqual(["0", "2", "3", "5"]);
      await parked(bus, name, 4);
    });

    test("are all kept when the visitor fails, but for what it had removed", async () => {
      await using bus = await create();
      const name = await park(bus, 4);
      const visit = bus.visitParked(name, async ({ message }) => {
        if (text(message) === "2") throw new Error("the operator stumbles");
        return text(message) === "1" ? "remove" : "keep";
      });
      await expect(visit).rejects.toThrow("the operator stumbles");
      expect((await look(bus, name)).map(({ message }) => text(message))).toEqual(["0", "2", "3"]);
    });

    test("are shown at most `limit` at a time, and none after the signal aborts", async () => {
      await using bus = await create();
      const name = await park(bus, 3);
      expect((await look(bus, name, 2)).map(({ message }) => text(message))).toEqual(["0", "1"]);
      expect(await look(bus, name, 0)).toEqual([]);
      const giveUp = new AbortController();
      let shown = 0;
      const visit = bus.visitParked(
        name,
        async () => {
          shown++;
          giveUp.abort(new Error("enough"));
          return "keep";
        },
        { signal: giveUp.signal },
      );
      await expect(visit).rejects.toThrow("enough");
      expect(shown).toBe(1);
      expect((await look(bus, name)).length).toBe(3);
    });

    test("are shown to one of two visitors at a time, and what is parked meanwhile is left for later", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      await using _ = await bus.subscribe(options, async () => {
        throw new DeadLetterError("no");
      });
      await bus.publish(envelope(topic, "old"));
      await parked(bus, options.name, 1);
      const elsewhere: string[] = [];
      const shown = await bus.visitParked(options.name, async () => {
        elsewhere.push(...(await look(bus, options.name)).map(({ message }) => text(message)));
        await bus.publish(envelope(topic, "new"));
        await parked(bus, options.name, 1);
        return "keep";
      });
      expect([shown, elsewhere]).toEqual([1, []]);
      expect((await look(bus, options.name)).map(({ message }) => text(message))).toEqual(["old", "new"]);
    });

    test("are none of a service that has none, and nothing of one that does not exist", async () => {
      await using bus = await create();
      const { options } = unique();
      expect(await bus.visitParked(options.name, async () => "remove")).toBeUndefined();
      await using _ = await bus.subscribe(options, async () => {});
      expect(await bus.visitParked(options.name, async () => "remove")).toBe(0);
    });
  });
}
