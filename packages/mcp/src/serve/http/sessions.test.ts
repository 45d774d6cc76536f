import { expect, test } from "vitest";
import { Sessions } from "./sessions.ts";

const PATIENCE = { timeout: 20_000 };

test("a session ends once nothing has happened in it for long enough, however many there are", async () => {
  let now = 0;
  using sessions = new Sessions({ sessionIdleMs: 20, clock: () => now });
  const idle = sessions.open("alice");
  const listening = sessions.open("alice");
  const stream = listening.listen({ keepAliveMs: 60_000 });
  const running = sessions.open("bob");
  const run = running.run(1, new AbortController());
  now = 1_000;

  await expect.poll(() => sessions.size, PATIENCE).toBe(2);
  expect(sessions.find(idle.id, "alice")).toBeUndefined();
  expect([sessions.find(listening.id, "alice"), sessions.find(running.id, "bob")]).toEqual([listening, running]);
  stream.end();
  await stream.ended;
  run[Symbol.dispose]();
  now = 2_000;
  await expect.poll(() => sessions.size, PATIENCE).toBe(0);
});

test("a caller with as many sessions as it may have loses the longest idle one, not one in which a call runs", () => {
  let now = 0;
  using sessions = new Sessions({ maxSessionsPerCaller: 2, clock: () => now++ });
  const running = sessions.open("alice");
  const run = running.run(1, new AbortController());
  const idle = sessions.open("alice");
  const another = sessions.open("alice");
  expect([sessions.find(idle.id, "alice"), sessions.find(running.id, "alice")]).toEqual([undefined, running]);

  using _second = another.run(1, new AbortController());
  expect(() => sessions.open("alice")).toThrow(/2 of your sessions have calls running/);
  expect(sessions.open("bob").caller).toBe("bob");
  run[Symbol.dispose]();
  expect(sessions.open("alice").id).not.toBe(running.id);
});

test("all callers together have a bound, which no caller's idle sessions hold for ever", () => {
  let now = 0;
  using sessions = new Sessions({ maxSessions: 2, sessionIdleMs: 1_000, clock: () => now });
  sessions.open("alice");
  sessions.open("bob");
  expect(() => sessions.open("carol")).toThrow(/2 sessions are open/);
  now = 1_000;
  expect(sessions.open("carol").caller).toBe("carol");
});

test("the end of a session ends what runs in it and who listens", async () => {
  using sessions = new Sessions();
  const session = sessions.open(undefined);
  const controller = new AbortController();
  using _run = session.run("a", controller);
  const stream = session.listen({ keepAliveMs: 60_000 });
  sessions.end(session);

  await stream.ended;
  expect([controller.signal.aborted, sessions.size]).toEqual([true, 0]);
});
