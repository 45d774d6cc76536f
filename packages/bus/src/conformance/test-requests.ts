import { describe, expect, test, vi } from "vitest";
import type { Bus } from "../bus.ts";
import { UnroutableError } from "../bus-errors.ts";
import { createRequester, RequestTimeoutError } from "../requester.ts";
import { envelope, replies, text, unique, WAIT } from "./fixtures.ts";

/** How requests that are made over the bus find their answers. */
export function testRequests(create: () => Promise<Bus>): void {
  describe("requests", () => {
    test("are answered, each with its own answer", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      await using _ = await bus.subscribe(options, async (request) => {
        await bus.publish(
          envelope(request.replyTo ?? "", `re: ${text(request)}`, { correlationId: request.correlationId }),
        );
      });
      await using requester = createRequester(bus, replies());
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          requester.request(envelope(topic, String(index), { correlationId: `c${index}` }), { timeoutMs: 10_000 }),
        ),
      );
      expect(answers.map(text)).toEqual(Array.from({ length: 100 }, (_, index) => `re: ${index}`));
      expect(requester.pending).toBe(0);
    });

    test("fail at their deadline, at once when nobody can take them, and when they are given up", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      await using _ = await bus.subscribe(options, async () => {});
      await using requester = createRequester(bus, replies());
      await expect(
        requester.request(envelope(topic, "silence", { correlationId: "a" }), { timeoutMs: 1_000 }),
      ).rejects.toBeInstanceOf(RequestTimeoutError);
      await expect(
        requester.request(envelope(`${topic}.nobody`, "x", { correlationId: "b" }), { timeoutMs: 10_000 }),
      ).rejects.toBeInstanceOf(UnroutableError);
      const giveUp = new AbortController();
      const request = requester.request(envelope(topic, "x", { correlationId: "c" }), {
        timeoutMs: 10_000,
        signal: giveUp.signal,
      });
      giveUp.abort(new Error("no longer wanted"));
      await expect(request).rejects.toThrow("no longer wanted");
      expect(requester.pending).toBe(0);
    });

    test("end at once when their bus is closed, and say whether somebody may have them", async () => {
      const bus = await create();
      const { topic, options } = unique();
      const taken = Promise.withResolvers<void>();
      await bus.subscribe(options, async () => taken.resolve());
      await using requester = createRequester(bus, replies());
      const request = () => requester.request(envelope(topic, "x", { correlationId: "a" }), { timeoutMs: 60_000 });
      const sent = request();
      await taken.promise;
      await Promise.all([
        expect(sent).rejects.toMatchObject({ name: "BusClosedError", mayHaveBeenTaken: true }),
        bus[Symbol.asyncDispose](),
      ]);
      await expect(request()).rejects.toMatchObject({ name: "BusClosedError", mayHaveBeenTaken: false });
      expect(requester.pending).toBe(0);
    });

    test("are not confused by answers that are late, repeated, foreign or not accepted", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      const strays: string[] = [];
      await using _ = await bus.subscribe(options, async (request) => {
        const reply = (body: string, correlationId: string | undefined) =>
          bus.publish(envelope(request.replyTo ?? "", body, { correlationId }));
        await reply("foreign", "unknown");
        await reply("nameless", undefined);
        await reply("unacceptable", request.correlationId);
        await reply("right", request.correlationId);
        await reply("again", request.correlationId);
      });
      await using requester = createRequester(bus, { ...replies(), onStray: (reply) => strays.push(text(reply)) });
      const answer = await requester.request(envelope(topic, "x", { correlationId: "mine" }), {
        timeoutMs: 10_000,
        accept: (reply) => text(reply) !== "unacceptable",
      });
      expect(text(answer)).toBe("right");
      await vi.waitFor(() => expect(strays).toEqual(["foreign", "nameless", "unacceptable", "again"]), WAIT);
    });
  });
}
