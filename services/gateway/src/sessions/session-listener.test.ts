import type { AgentEvent } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { SessionListener } from "./session-listener.ts";

const eventsTo = (count: number): AgentEvent[] =>
  Array.from({ length: count }, (_, i) => ({
    sessionId: "s",
    turnId: "t",
    sequence: i + 1,
    at: "2026-01-01T00:00:00.000Z",
    kind: "text",
    text: `${i}`,
  }));
const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

/** A listener of a session with a log, and how often that was read. */
function listenerOf(log: readonly AgentEvent[]) {
  let reads = 0;
  const read = async (after: number) => {
    reads++;
    return { events: log.filter(({ sequence }) => sequence > after).slice(0, 500), last: log.at(-1)?.sequence ?? 0 };
  };
  return { listener: new SessionListener(read, () => {}), reads: () => reads };
}

test("a reader that is slower than its bound of events has the rest from the log, and memory has a bound", async () => {
  const log = eventsTo(2_500);
  const { listener } = listenerOf(log);
  for (const event of log) listener.hear(event);

  expect((await listener.take()).map(({ sequence }) => sequence)).toEqual(numbersTo(2_500));
});

test("events come in order and once, whatever the bus repeats, swaps or loses, at one read of the log for each gap", async () => {
  const log = eventsTo(8);
  const { listener, reads } = listenerOf(log);
  for (const at of [0, 0, 1, 3, 2, 7, 1]) listener.hear(log[at] as AgentEvent);

  expect((await listener.take()).map(({ sequence }) => sequence)).toEqual(numbersTo(8));
  expect(reads()).toBe(1);
});

test("one that starts with a turn takes nothing before it, and reads the log only if its beginning was lost", async () => {
  const log = eventsTo(6).map((event) => ({
    ...event,
    turnId: event.sequence < 4 ? "before" : "now",
    kind: event.sequence === 4 ? ("turn_started" as const) : event.kind,
  }));
  const [whole, cut] = [listenerOf(log), listenerOf(log)];
  for (const at of [whole, cut]) at.listener.startWith("now");
  for (const event of log) whole.listener.hear(event);
  for (const event of log.slice(4)) cut.listener.hear(event);

  expect((await whole.listener.take()).map(({ sequence }) => sequence)).toEqual([4, 5, 6]);
  expect((await cut.listener.take()).map(({ sequence }) => sequence)).toEqual(numbersTo(6));
  expect([whole.reads(), cut.reads()]).toEqual([0, 1]);
});

test("a gap that the log no longer has stays one", async () => {
  const log = eventsTo(9);
  const { listener } = listenerOf(log.slice(6));
  for (const at of [0, 8]) listener.hear(log[at] as AgentEvent);

  expect((await listener.take()).map(({ sequence }) => sequence)).toEqual([1, 7, 8, 9]);
});

test("a log that cannot be read ends no stream", async () => {
  const listener = new SessionListener(
    () => Promise.reject(new Error("away")),
    () => {},
  );
  for (const event of [1, 4]) listener.hear(eventsTo(4)[event - 1] as AgentEvent);

  expect((await listener.take()).map(({ sequence }) => sequence)).toEqual([1, 4]);
});

test("a wait ends with the next event, and with the signal", async () => {
  const { listener } = listenerOf([]);
  const never = new AbortController();
  const waiting = listener.wait(60_000, never.signal);
  listener.hear(eventsTo(1)[0] as AgentEvent);
  await waiting;
  await listener.take();
  const aborted = listener.wait(60_000, never.signal);
  never.abort();
  await aborted;
});
