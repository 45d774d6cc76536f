import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { expect, test, vi } from "vitest";
import { type Bus, MAX_BODY_BYTES, MAX_HEADER_BYTES } from "../bus.ts";
import { MessageTooLargeError, UnroutableError } from "../bus-errors.ts";
import { collector, envelope, text, unique, WAIT } from "./fixtures.ts";

/** The delivery of a message that is published. */
// Long because: the tests are listed side by side
export function testDelivery(create: () => Promise<Bus>): void {
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

  test("runs a handler in nobody's async context", async () => {
    await using bus = await create();
    const { topic, options } = unique();
    const whose = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    await using _ = await whose.run("a subscriber's", () =>
      bus.subscribe(options, async () => void seen.push(whose.getStore())),
    );
    await bus.publish(envelope(topic, "nobody's"));
    await vi.waitFor(() => expect(seen).toEqual([undefined]), WAIT);
    await whose.run("a publisher's", () => bus.publish(envelope(topic, "somebody's")));
    await vi.waitFor(() => expect(seen).toEqual([undefined, undefined]), WAIT);
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
    await using _c = await bus.subscribe(
      { ...options, name: `${options.name}-c`, kind: "copy" },
      collectors[2].handler,
    );
    await using _d = await bus.subscribe(
      { ...options, name: `${options.name}-c`, kind: "copy" },
      collectors[3].handler,
    );
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
    await using _ = await bus.subscribe(
      { ...options, topics: [`${topic}.${pattern}`, `${topic}.end`] },
      received.handler,
    );
    for (const suffix of [...other, ...matching, "end"])
      await bus.publish(envelope([topic, suffix].filter((word) => word !== "").join("."), suffix));
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
      Array.from({ length: 40 }, (_, index) =>
        bus.publish(envelope(index % 2 === 0 ? topic : `${topic}.nobody`, String(index)), { mandatory: true }),
      ),
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
    const withHeaders = (bytes: number) => ({
      ...envelope(topic, "x"),
      headers: { name: "ä".repeat(1000), more: "x".repeat(bytes - 2000 - 8) },
    });
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

  test("a publish that is given up rejects with the reason", async () => {
    await using bus = await create();
    await expect(
      bus.publish(envelope("some.topic", "x"), { signal: AbortSignal.abort(new Error("given up")) }),
    ).rejects.toThrow("given up");
  });
}
