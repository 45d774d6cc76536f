import { silentLogger } from "@rockbot/bus";
import { connectRedisLeaseStore } from "@rockbot/records/leases/redis";
import { startOwnRedis } from "@rockbot/testing";
import { expect, test, vi } from "vitest";
import { ScriptSessions } from "./script-sessions.ts";
import { sessionKey } from "./shared-sessions.ts";

const bounds = { sessionsPerCaller: 2, maxSessions: 4, sessionIdleSeconds: 600, sessionSeconds: 7_200 };

/** Two processes that share Redis, and a way to see what they tell each other. */
async function openTwo() {
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await startOwnRedis());
  const stores = [];
  for (const _ of [1, 2, 3]) stores.push(stack.use(await connectRedisLeaseStore(redis.url)));
  const [one, other, leases] = stores as [(typeof stores)[0], (typeof stores)[0], (typeof stores)[0]];
  const log = silentLogger;
  const first = stack.use(new ScriptSessions(bounds, { leases: one, log }));
  const second = stack.use(new ScriptSessions(bounds, { leases: other, log }));
  const opened = stack.move();
  return { redis, first, second, leases, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

test("a session of another process is told as such, to its own caller only, and so is its end", async () => {
  await using scene = await openTwo();
  const session = await scene.first.take("ada", "s1");
  session.begins("x = 1");
  const refused = { code: "unavailable", isRetryable: true, details: { reason: "session_elsewhere" } };
  await expect(scene.second.take("ada", "s1")).rejects.toMatchObject(refused);
  await expect(scene.second.end("ada", "s1")).rejects.toMatchObject(refused);
  expect(scene.second.list("ada")).toEqual([]);
  (await scene.second.take("bob", "s1")).giveBack();

  await session.end("its 120 minutes were over");
  await vi.waitFor(
    async () =>
      await expect(scene.second.take("ada", "s1")).rejects.toMatchObject({
        details: { reason: "session_gone" },
        message: expect.stringMatching(/its 120 minutes were over.*1: x = 1/),
      }),
    { timeout: 10_000 },
  );
  expect(scene.second.list("ada")).toMatchObject([{ name: "s1", state: "over", cells: 1 }]);
});

test("a session whose process died is over for all others, until its caller ends it", async () => {
  await using scene = await openTwo();
  const key = sessionKey("ada", "s1");
  await scene.leases.hold(key, { owner: "died", leaseMs: 100 });
  const facts = { begunAt: 1_000, cells: 7, lines: [{ cell: 7, line: "y = 2" }] };
  await scene.leases.leaveNote(key, "died", { tag: "t", text: JSON.stringify(facts) });
  const gone = {
    details: { reason: "session_gone" },
    message: expect.stringMatching(/the service that had it is gone.*7: y = 2/),
  };
  await vi.waitFor(async () => await expect(scene.first.take("ada", "s1")).rejects.toMatchObject(gone), {
    timeout: 10_000,
  });
  await expect(scene.second.take("ada", "s1")).rejects.toMatchObject(gone);
  expect(await scene.second.end("ada", "s1")).toMatchObject({ cells: 7, state: "over" });
  expect(await scene.first.end("ada", "s1")).toMatchObject({ cells: 7 });
  (await scene.first.take("ada", "s1")).giveBack();
});

test("a session whose name another process took ends where it was", { timeout: 30_000 }, async () => {
  await using scene = await openTwo();
  const session = await scene.first.take("ada", "s1");
  session.begins("x = 1");
  const key = sessionKey("ada", "s1");
  await scene.redis.ctl("FLUSHALL"); // as if this process had been away for longer than its lease
  await scene.leases.hold(key, { owner: "another", leaseMs: 60_000 });
  await vi.waitFor(() => expect(scene.first.list("ada")).toMatchObject([{ name: "s1", state: "over" }]), {
    timeout: 20_000,
  });
});

test("of the sessions that other processes have left, the last ones are remembered", async () => {
  await using scene = await openTwo();
  for (let at = 0; at < 12; at++) {
    const session = await scene.first.take("ada", `s${at}`);
    await session.end("it is enough");
  }
  for (let at = 0; at < 12; at++)
    await vi.waitFor(
      async () =>
        await expect(scene.second.take("ada", `s${at}`)).rejects.toMatchObject({ details: { reason: "session_gone" } }),
      { timeout: 10_000 },
    );
  expect(scene.second.list("ada").map(({ name }) => name)).toEqual(["s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11"]);
});

test("no session begins while nobody can know of it, and the name of one that never began is free", async () => {
  await using scene = await openTwo();
  (await scene.first.take("ada", "s1")).giveBack();
  await vi.waitFor(async () => (await scene.second.take("ada", "s1")).giveBack(), { timeout: 10_000 });
  await scene.redis[Symbol.asyncDispose]();
  await expect(scene.first.take("ada", "s2")).rejects.toMatchObject({
    code: "unavailable",
    details: { reason: "session_record" },
  });
  expect(scene.first.list("ada")).toEqual([]);
});
