import { type Bus, createMemoryBus } from "@rockbot/bus";
import { createEnvelope } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { AnswerPublisher } from "./answer-publisher.ts";

const answer = (id: string) =>
  createEnvelope({
    topic: "tool.result.a",
    type: "ToolInvokeResponse",
    source: "s",
    correlationId: id,
    body: Buffer.from("{}"),
  });

/** A caller whose queue takes one message, until it lets go of what it holds. */
async function openFullCaller(): Promise<
  AsyncDisposable & { readonly bus: Bus; readonly got: string[]; readonly letGo: () => void }
> {
  const bus = createMemoryBus({ maxQueueLength: 1 });
  const got: string[] = [];
  const { promise: freed, resolve: letGo } = Promise.withResolvers<void>();
  await bus.subscribe(
    { name: "result.a", topics: ["tool.result.a"], kind: "result", concurrency: 1 },
    async ({ correlationId = "" }) => {
      got.push(correlationId);
      await freed;
    },
  );
  await bus.publish(answer("held"));
  await expect.poll(() => got).toEqual(["held"]);
  await bus.publish(answer("waiting"));
  return {
    bus,
    got,
    letGo,
    async [Symbol.asyncDispose]() {
      letGo();
      await bus[Symbol.asyncDispose]();
    },
  };
}

test("an answer that its caller's queue refuses is offered again until it is taken", async () => {
  await using caller = await openFullCaller();
  let unrouted = 0;
  const answers = new AnswerPublisher(caller.bus, { maxHeldPerCaller: 1, onUnrouted: () => unrouted++ });
  const published = answers.publish(answer("late"), "a", performance.now() + 10_000);
  caller.letGo();
  await published;
  await expect.poll(() => caller.got).toEqual(["held", "waiting", "late"]);
  expect(unrouted).toBe(0);
});

test("a caller whose queue takes nothing holds no more answers than it may, and none for long", async () => {
  await using caller = await openFullCaller();
  const unrouted: number[] = [];
  const answers = new AnswerPublisher(caller.bus, {
    maxHeldPerCaller: 2,
    onUnrouted: () => unrouted.push(performance.now()),
  });
  const start = performance.now();
  const ended: string[] = [];
  const publish = (id: string) => answers.publish(answer(id), "a", start).then(() => void ended.push(id)); // the call's own time is over
  await Promise.all(["one", "two", "three"].map(publish));
  expect(unrouted.length).toBe(3);
  expect(ended[0]).toBe("three"); // the others are held for a second
  expect((unrouted[1] ?? 0) - start).toBeGreaterThan(900);
  expect(caller.got).toEqual(["held"]);
});

test("an answer whose caller has no queue counts as such", async () => {
  await using bus = createMemoryBus();
  let unrouted = 0;
  await new AnswerPublisher(bus, { maxHeldPerCaller: 1, onUnrouted: () => unrouted++ }).publish(
    answer("stray"),
    "a",
    performance.now() + 1_000,
  );
  expect(unrouted).toBe(1);
});
