import { randomBytes } from "node:crypto";
import { createEnvelope, type Envelope } from "@rockbot/contracts";
import { describe, expect, test, vi } from "vitest";
import type { Bus, Death, Handler, ParkedMessage, SubscribeOptions } from "./bus.ts";
import { MAX_BODY_BYTES, MAX_HEADER_BYTES } from "./bus.ts";
import { BusClosedError, DeadLetterError, MessageTooLargeError, SubscriptionConflictError, UnroutableError } from "./bus-errors.ts";
import { createRequester, RequestTimeoutError } from "./requester.ts";

export interface TestBusOptions {
  /** What `traits.isDurable` says; a durable bus must keep messages while nobody consumes. */
  readonly isDurable: boolean;
}

const WAIT = { timeout: 10_000, interval: 10 };

/**
 * What every bus promises, as tests. `create` connects anew each time; tests use names of their own, so that they do not
 * meet on a broker they share. For an adapter's test file one call of this is all.
 */
export function testBus(name: string, create: () => Promise<Bus>, { isDurable }: TestBusOptions): void {
  describe(name, () => {
    test("says what it promises beyond the common contract", async () => {
      await using bus = await create();
      expect(bus.traits.isDurable).toBe(isDurable);
      expect(bus.isReady).toBe(true);
    });

    test("delivers an envelope as it was published", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      const received = collector();
      await using _ = await bus.subscribe(options, received.handler);
      const sent = envelope(topic, "héllo ✓ \u0000", {
        correlationId: "c-1",
        replyTo: "tool.result.someone",
        destination: "someone",
        headers: { "rb-timeout-ms": "60000", custom: "värde" },
      });
      await bus.publish(sent);
      const [message] = await received.take(1);
      expect({ ...message, body: text(message), headers: { ...message?.headers }, userId: undefined }).toEqual({
        ...sent,
        body: text(sent),
        userId: undefined,
      });
    });

    test("keeps the order of one publisher", async () => {
      await using bus = await create();
      const { topic, options } = unique({ concurrency: 1 });
      const received = collector();
      await using _ = await bus.subscribe(options, received.handler);
      const numbers = Array.from({ length: 200 }, (_, index) => String(index));
      await Promise.all(numbers.map((number) => bus.publish(envelope(topic, number))));
      expect((await received.take(200)).map(text)).toEqual(numbers);
    });

    test("gives each message to one of the consumers that share a name", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      const first = collector();
      const second = collector();
      await using _first = await bus.subscribe(options, first.handler);
      await using _second = await bus.subscribe(options, second.handler);
      for (let index = 0; index < 50; index++) await bus.publish(envelope(topic, String(index)));
      await vi.waitFor(() => expect(first.messages.length + second.messages.length).toBe(50), WAIT);
      expect(new Set([...first.messages, ...second.messages].map(text)).size).toBe(50);
      expect(first.messages.length).toBeGreaterThan(0);
      expect(second.messages.length).toBeGreaterThan(0);
    });

    test("gives each subscription name its own copy, and each instance of a copy subscription too", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      const collectors = [collector(), collector(), collector(), collector()] as const;
      await using _a = await bus.subscribe({ ...options, name: `${options.name}-a` }, collectors[0].handler);
      await using _b = await bus.subscribe({ ...options, name: `${options.name}-b` }, collectors[1].handler);
      await using _c = await bus.subscribe({ ...options, name: `${options.name}-c`, kind: "copy" }, collectors[2].handler);
      await using _d = await bus.subscribe({ ...options, name: `${options.name}-c`, kind: "copy" }, collectors[3].handler);
      await bus.publish(envelope(topic, "one"));
      for (const received of collectors) expect((await received.take(1)).map(text)).toEqual(["one"]);
    });

    test.each([
      ["*", ["x"], ["", "x.y"]],
      ["x.*", ["x.y"], ["x", "x.y.z"]],
      ["x.#", ["x", "x.y", "x.y.z"], ["y"]],
      ["*.z", ["x.z"], ["z", "x.y.z"]],
      ["#.z", ["z", "x.z", "x.y.z"], ["x"]],
      ["x.#.z", ["x.z", "x.y.z", "x.y.y.z"], ["x.y", "z"]],
    ])("matches the pattern %s as topics are matched", async (pattern, matching, other) => {
      await using bus = await create();
      const { topic, options } = unique();
      const received = collector();
      await using _ = await bus.subscribe({ ...options, topics: [`${topic}.${pattern}`, `${topic}.end`] }, received.handler);
      for (const suffix of [...other, ...matching, "end"]) await bus.publish(envelope([topic, suffix].filter((word) => word !== "").join("."), suffix));
      // "x.#" and "#.z" with nothing in place of "#" take in the bare topic, which is not under test here.
      await vi.waitFor(() => expect(received.messages.map(text)).toContain("end"), WAIT);
      expect(received.messages.map(text).filter((suffix) => suffix !== "")).toEqual([...matching, "end"]);
    });

    test("takes a message for several topics of one subscription once", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      const received = collector();
      await using _ = await bus.subscribe({ ...options, topics: [topic, `${topic}.#`, "#.never"] }, received.handler);
      await bus.publish(envelope(topic, "one"));
      await bus.publish(envelope(topic, "two"));
      expect((await received.take(2)).map(text)).toEqual(["one", "two"]);
    });

    test("drops a message that nobody subscribes to, unless it is mandatory", async () => {
      await using bus = await create();
      const { topic } = unique();
      await bus.publish(envelope(topic, "lost"));
      await expect(bus.publish(envelope(topic, "returned"), { mandatory: true })).rejects.toBeInstanceOf(UnroutableError);
    });

    test("tells each of many mandatory publishes its own fate", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      const received = collector();
      await using _ = await bus.subscribe(options, received.handler);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 40 }, (_, index) => bus.publish(envelope(index % 2 === 0 ? topic : `${topic}.nobody`, String(index)), { mandatory: true })),
      );
      expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual(outcomes.map((_, index) => index % 2 === 0));
      await received.take(20);
    });

    test("refuses a body that is too large, and carries on", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      const received = collector();
      await using _ = await bus.subscribe(options, received.handler);
      const large = { ...envelope(topic, ""), body: new Uint8Array(MAX_BODY_BYTES + 1) };
      await expect(bus.publish(large)).rejects.toBeInstanceOf(MessageTooLargeError);
      await bus.publish(envelope(topic, "after"));
      expect((await received.take(1)).map(text)).toEqual(["after"]);
    });

    test("carries the largest headers, and refuses a byte more", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      const received = collector();
      await using _ = await bus.subscribe(options, received.handler);
      const withHeaders = (bytes: number) => ({ ...envelope(topic, "x"), headers: { name: "ä".repeat(1000), more: "x".repeat(bytes - 2000 - 8) } });
      await expect(bus.publish(withHeaders(MAX_HEADER_BYTES + 1))).rejects.toBeInstanceOf(MessageTooLargeError);
      const largest = withHeaders(MAX_HEADER_BYTES);
      await bus.publish(largest);
      expect((await received.take(1))[0]?.headers).toMatchObject(largest.headers);
    });

    test("carries a megabyte unchanged", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      const received = collector();
      await using _ = await bus.subscribe(options, received.handler);
      const body = randomBytes(1024 * 1024);
      await bus.publish({ ...envelope(topic, ""), body });
      const [message] = await received.take(1);
      expect(Buffer.compare(message?.body ?? Buffer.alloc(0), body)).toBe(0);
    });

    test.each(["", "a.*", "a.#", "x".repeat(256)])("refuses to publish to the topic %j", async (topic) => {
      await using bus = await create();
      await expect(bus.publish(envelope(topic, "never"))).rejects.toBeInstanceOf(RangeError);
    });

    test.each([{ name: "With.Capitals" }, { name: "" }, { name: "x".repeat(101) }, { topics: [] }, { concurrency: 0 }, { concurrency: 2, prefetch: 1 }])(
      "refuses a subscription with %j",
      async (wrong) => {
        await using bus = await create();
        await expect(bus.subscribe({ ...unique().options, ...wrong }, async () => {})).rejects.toBeInstanceOf(RangeError);
      },
    );

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

    test("ends a copy subscription with its owner", async () => {
      await using bus = await create();
      const { topic, options } = unique({ kind: "copy" });
      await (await bus.subscribe(options, async () => {}))[Symbol.asyncDispose]();
      await expect(bus.publish(envelope(topic, "gone"), { mandatory: true })).rejects.toBeInstanceOf(UnroutableError);
    });

    test("never delivers a message after its time to live, and parks it", async () => {
      await using bus = await create();
      const { topic, options } = unique();
      await (await bus.subscribe(options, async () => {}))[Symbol.asyncDispose]();
      await bus.publish(envelope(topic, "stale"), { ttlMs: 20 });
      await new Promise((resolve) => setTimeout(resolve, 60)); // the time to live itself is under test
      await bus.publish(envelope(topic, "fresh"), { ttlMs: 60_000 });
      const received = collector();
      await using _ = await bus.subscribe(options, received.handler);
      expect((await received.take(1)).map(text)).toEqual(["fresh"]);
      await vi.waitFor(async () => expect((await bus.inspect(options.name, "parked"))?.messages).toBe(1), WAIT);
      expect(received.messages.map(text)).toEqual(["fresh"]);
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

    test.each(["result", "copy"] as const)("drops a message of a %s subscription whose handler throws, and goes on", async (kind) => {
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
    });

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
      const disposal = Promise.all([subscription[Symbol.asyncDispose](), subscription[Symbol.asyncDispose]()]).then(() => {
        isDisposed = true;
      });
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
      await using _ = await bus.subscribe(options, async (message, { isRedelivered }) => void received.push([text(message), isRedelivered]));
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
      await expect(bus.subscribe({ ...options, kind: "result" }, async () => {})).rejects.toBeInstanceOf(SubscriptionConflictError);
      await expect(bus.publish(envelope("still.alive", "yes"))).resolves.toBeUndefined();
    });

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
      const publishing = Array.from({ length: 50 }, (_, index) => bus.publish(envelope(topic, String(index)), { mandatory: true }));
      await bus[Symbol.asyncDispose]();
      await Promise.all(publishing);
      if (!isDurable) return; // what was published ends with the process
      await using later = await create();
      const received = collector();
      await using _ = await later.subscribe(options, received.handler);
      expect((await received.take(50)).length).toBe(50);
    });

    test("a publish that is given up rejects with the reason", async () => {
      await using bus = await create();
      await expect(bus.publish(envelope("some.topic", "x"), { signal: AbortSignal.abort(new Error("given up")) })).rejects.toThrow("given up");
    });

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
        await bus.publish(envelope(topic, "stale"), { ttlMs: 1 });
        await new Promise((resolve) => setTimeout(resolve, 30)); // the time to live itself is under test
        await using _ = await bus.subscribe(options, async () => {});
        await parked(bus, options.name, 3);
        const seen = await look(bus, options.name);
        expect(seen.map(({ message, reason, why }) => [text(message), reason, why])).toEqual([
          ["héllo", "rejected", "not a message of ours"],
          ["poison", "failed", undefined],
          ["stale", "expired", undefined],
        ]);
        const { message, parkedAt = 0 } = seen[0] as ParkedMessage;
        expect({ ...message, body: text(message), headers: { ...message.headers }, userId: undefined }).toEqual({ ...sent, body: "héllo", userId: undefined });
        expect(parkedAt).toBeGreaterThanOrEqual(before);
        expect(parkedAt).toBeLessThanOrEqual(Date.now());
      });

      test("are removed if the visitor says so, and the others keep their order, however often they are looked at", async () => {
        await using bus = await create();
        const name = await park(bus, 6);
        expect(await bus.visitParked(name, async ({ message }) => (["1", "4"].includes(text(message)) ? "remove" : "keep"))).toBe(6);
        for (let looks = 0; looks < 30; looks++) expect((await look(bus, name)).map(({ message }) => text(message))).toEqual(["0", "2", "3", "5"]);
        await using another = await create();
        if (isDurable) expect((await look(another, name)).map(({ message }) => text(message))).toEqual(["0", "2", "3", "5"]);
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

    describe("requests", () => {
      test("are answered, each with its own answer", async () => {
        await using bus = await create();
        const { topic, options } = unique();
        await using _ = await bus.subscribe(options, async (request) => {
          await bus.publish(envelope(request.replyTo ?? "", `re: ${text(request)}`, { correlationId: request.correlationId }));
        });
        await using requester = createRequester(bus, replies());
        const answers = await Promise.all(
          Array.from({ length: 100 }, (_, index) => requester.request(envelope(topic, String(index), { correlationId: `c${index}` }), { timeoutMs: 10_000 })),
        );
        expect(answers.map(text)).toEqual(Array.from({ length: 100 }, (_, index) => `re: ${index}`));
        expect(requester.pending).toBe(0);
      });

      test("fail at their deadline, at once when nobody can take them, and when they are given up", async () => {
        await using bus = await create();
        const { topic, options } = unique();
        await using _ = await bus.subscribe(options, async () => {});
        await using requester = createRequester(bus, replies());
        await expect(requester.request(envelope(topic, "silence", { correlationId: "a" }), { timeoutMs: 1_000 })).rejects.toBeInstanceOf(RequestTimeoutError);
        await expect(requester.request(envelope(`${topic}.nobody`, "x", { correlationId: "b" }), { timeoutMs: 10_000 })).rejects.toBeInstanceOf(
          UnroutableError,
        );
        const giveUp = new AbortController();
        const request = requester.request(envelope(topic, "x", { correlationId: "c" }), { timeoutMs: 10_000, signal: giveUp.signal });
        giveUp.abort(new Error("no longer wanted"));
        await expect(request).rejects.toThrow("no longer wanted");
        expect(requester.pending).toBe(0);
      });

      test("are not confused by answers that are late, repeated, foreign or not accepted", async () => {
        await using bus = await create();
        const { topic, options } = unique();
        const strays: string[] = [];
        await using _ = await bus.subscribe(options, async (request) => {
          const reply = (body: string, correlationId: string | undefined) => bus.publish(envelope(request.replyTo ?? "", body, { correlationId }));
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
  });
}

/** A topic and a subscription to it that no other test has. */
function unique(more: Partial<SubscribeOptions> = {}): { topic: string; options: SubscribeOptions } {
  const id = `t${randomBytes(6).toString("hex")}`;
  return { topic: `conformance.${id}`, options: { name: `conformance-${id}`, topics: [`conformance.${id}`], ...more } };
}

function replies() {
  const { topic, options } = unique();
  return { replyTo: topic, subscription: { name: `result.${options.name}`, kind: "copy" as const } };
}

function envelope(topic: string, body: string, more: Partial<Envelope> = {}): Envelope {
  return createEnvelope({ topic, type: "RockBot.Conformance", source: "conformance", body: Buffer.from(body), ...more });
}

const text = (message: Envelope | undefined): string => Buffer.from(message?.body ?? []).toString();

function collector(): { messages: Envelope[]; handler: Handler; take(count: number): Promise<Envelope[]> } {
  const messages: Envelope[] = [];
  return {
    messages,
    handler: async (message) => {
      messages.push(message);
    },
    async take(count) {
      await vi.waitFor(() => expect(messages.length).toBeGreaterThanOrEqual(count), WAIT);
      return messages.slice(0, count);
    },
  };
}

/** Parks the messages "0", "1", … in this order. @returns the subscription's name */
async function park(bus: Bus, count: number): Promise<string> {
  const { topic, options } = unique({ concurrency: 1 });
  await using _ = await bus.subscribe(options, async () => {
    throw new DeadLetterError("no");
  });
  for (let index = 0; index < count; index++) {
    await bus.publish(envelope(topic, String(index)));
    await parked(bus, options.name, index + 1);
  }
  return options.name;
}

const parked = (bus: Bus, name: string, count: number): Promise<void> =>
  vi.waitFor(async () => expect((await bus.inspect(name, "parked"))?.messages).toBe(count), WAIT);

async function look(bus: Bus, name: string, limit?: number): Promise<ParkedMessage[]> {
  const seen: ParkedMessage[] = [];
  await bus.visitParked(
    name,
    async (message) => {
      seen.push(message);
      return "keep";
    },
    { limit },
  );
  return seen;
}

/** Waits until the bus has nothing left to do for a subscription. */
async function settled(bus: Bus, name: string): Promise<void> {
  for (const part of ["main", "retry"] as const) {
    await vi.waitFor(async () => expect((await bus.inspect(name, part))?.messages).toBe(0), WAIT);
  }
}
