import { newId } from "@rockbot/contracts";
import { connectRedisBlobStore } from "@rockbot/records/blobs/redis";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { startOwnRedis } from "@rockbot/testing";
import { expect, test } from "vitest";
import type { SessionKey } from "../../words/session.ts";
import type { TurnRecord, TurnStore } from "../turn-store.ts";
import { connectRedisTurnStore } from "./redis-turn-store.ts";

const record: TurnRecord = { nonce: "ab", startedAt: 1, hasReadUntrusted: false, answers: [], results: new Map() };
const result = {
  text: "done",
  finish: "stop",
  usage: { inputTokens: 1, outputTokens: 1 },
  hasReadUntrusted: false,
} as const;
const TEXT = "x".repeat(250_000);
const claimOf = (turnId: string) => ({ turnId, owner: newId(), leaseMs: 60_000, maxWaiting: 16, record });
const answerOf = (text: string) =>
  ({ text, toolCalls: [], finish: "stop", usage: { inputTokens: 1, outputTokens: 1 } }) as const;

/** One turn of the session, as the agent writes it. @returns whether its end was kept */
async function turn(store: TurnStore, session: SessionKey): Promise<boolean> {
  const claim = claimOf(newId());
  const taken = await store.take(session, claim);
  if (taken.state !== "taken") throw new Error(`not taken: ${JSON.stringify(taken)}`);
  const lease = { ...claim, fence: taken.fence };
  await store.addEvents(session, claim.turnId, [{ at: new Date().toISOString(), kind: "text", text: "said" }], 0);
  await store.addAnswer(session, lease, 0, answerOf("said"));
  return await store.end(session, lease, result, [{ role: "user", content: TEXT, at: Date.now() }]);
}

test("one caller with a session for each of its large messages takes no more than its share, and others chat on", async () => {
  await using redis = await startOwnRedis();
  await redis.ctl("config", "set", "maxmemory", "32mb", "maxmemory-policy", "noeviction");
  await using store = await connectRedisTurnStore(redis.url);
  const own = { caller: "ben", sessionId: "own" };
  await turn(store, own);
  for (let index = 0; index < 200; index++)
    expect(await turn(store, { caller: "flood", sessionId: `s${index}` })).toBe(true); // 50 MB
  const kept = await Promise.all(
    Array.from(
      { length: 200 },
      async (_, index) => (await store.history({ caller: "flood", sessionId: `s${index}` })).length,
    ),
  );
  const count = kept.filter((length) => length > 0).length;
  expect(count).toBeGreaterThan(15); // 3/16 of 32 MiB
  expect(count).toBeLessThan(26);
  expect(kept.lastIndexOf(0)).toBe(199 - count); // its oldest have made room
  expect(await turn(store, own)).toBe(true);
  expect(await store.history(own)).toHaveLength(2);
});

test("sessions with a turn stay, and a caller whose running turns have all that it may have begins no further one", async () => {
  await using redis = await startOwnRedis();
  await redis.ctl("config", "set", "maxmemory", "16mb");
  await using store = await connectRedisTurnStore(redis.url);
  const running: { session: SessionKey; claim: ReturnType<typeof claimOf>; fence: number }[] = [];
  const begin = async (caller: string, sessionId: string) => {
    const [session, claim] = [{ caller, sessionId }, claimOf(newId())];
    const taken = await store.take(session, claim);
    if (taken.state !== "taken") return taken;
    running.push({ session, claim, fence: taken.fence });
    return (await store.addAnswer(session, { ...claim, fence: taken.fence }, 0, answerOf(TEXT.repeat(4))))
      ? taken
      : undefined;
  };
  await turn(store, { caller: "flood", sessionId: "idle" });
  for (let index = 0; index < 3; index++) expect(await begin("flood", `s${index}`)).toMatchObject({ state: "taken" });
  expect(await begin("flood", "one more")).toEqual({ state: "no room", most: 3 * 1024 * 1024 });
  expect(await store.history({ caller: "flood", sessionId: "idle" })).toEqual([]);
  expect(await begin("ben", "own")).toMatchObject({ state: "taken" });

  const [first] = running;
  if (first === undefined) throw new Error("nothing runs");
  expect(await store.take(first.session, first.claim)).toMatchObject({ state: "taken", record: { answers: [{}] } }); // begun before: it goes on
  expect(await store.end(first.session, { ...first.claim, fence: first.fence }, result, [])).toBe(true);
  expect(await begin("flood", "one more")).toMatchObject({ state: "taken" });
});

test("where all have too much, who has the most gives so much once, and somebody whose sessions have lapsed is not taken for that", async () => {
  await using redis = await startOwnRedis();
  await redis.ctl("config", "set", "maxmemory", "32mb");
  await using store = await connectRedisTurnStore(redis.url);
  for (let index = 0; index < 20; index++) await turn(store, { caller: "lapsed", sessionId: `s${index}` });
  await redis.ctl(
    "eval",
    "for _, key in ipairs(redis.call('KEYS', '*')) do if not string.match(key, ':room$') then redis.call('DEL', key) end end",
    "0",
  );
  const sessions = Array.from({ length: 12 }, (_, index) => ({ caller: "flood", sessionId: `s${index}` }));
  for (const session of sessions) await turn(store, session);
  const used = Number(/^used_memory:(\d+)/m.exec(await redis.ctl("info", "memory"))?.[1]);
  const ballast = "for i = 1, tonumber(ARGV[1]) do redis.call('SET', 'ballast' .. i, string.rep('x', 100000)) end";
  await redis.ctl("eval", ballast, "0", String(Math.ceil((25 * 1024 * 1024 - used) / (112 * 1024)))); // about one MiB too many
  const left = async (): Promise<number> =>
    (await Promise.all(sessions.map((session) => store.history(session)))).filter(({ length }) => length > 0).length;
  await expect
    .poll(
      async () => {
        for (let index = 0; index < 10; index++)
          await store.note({ caller: "ben", sessionId: "own" }, { role: "user", content: "x", at: 1 });
        return await left();
      },
      { timeout: 20_000 },
    )
    .toBeLessThan(12);
  expect(await left()).toBeGreaterThan(0);
});

test("where three callers fill the three quarters, another chats and calls on, and what its own calls leave is kept up to its share", async () => {
  await using redis = await startOwnRedis();
  await redis.ctl("config", "set", "maxmemory", "32mb", "maxmemory-policy", "noeviction");
  await using store = await connectRedisTurnStore(redis.url);
  await using blobs = await connectRedisBlobStore(redis.url);
  await using claims = await connectRedisClaimStore(redis.url);
  await using journal = await connectRedisJournalStore(redis.url);
  const flood = ["f1", "f2", "f3"];
  for (let index = 0; index < 30; index++)
    for (const caller of flood) await turn(store, { caller, sessionId: `s${index}` });
  const put = (index: number) =>
    blobs.put(newId(), Buffer.from(TEXT), { owner: flood[index % 3] as string, ttlMs: 60_000 });
  const isFull = (index: number): Promise<boolean> =>
    put(index).then(
      () => false,
      () => true,
    );
  let count = 0;
  while (!(await isFull(count++))) expect(count).toBeLessThan(128);

  const own = { caller: "ben", sessionId: "own" };
  const call = async (caller: string, size: number): Promise<"kept" | "not kept"> => {
    const key = { caller, toolCallId: newId() };
    const taken = await claims.claim(key, { owner: "o", requestHash: "h", leaseMs: 1_000 });
    if (taken.state !== "taken") throw new Error(taken.state);
    expect(await claims.complete(taken.claim, new Uint8Array(size))).toBe(true);
    const after = await claims.look(key);
    return after?.state === "done" && after.reply !== undefined ? "kept" : "not kept";
  };
  const answer = async (caller: string, size: number): Promise<"kept" | "not kept"> => {
    const toolCallId = newId();
    await journal.writeAnswer("gateway", toolCallId, new Uint8Array(size), { onBehalfOf: caller });
    return (await journal.readAnswer("gateway", toolCallId)) === undefined ? "not kept" : "kept";
  };
  for (const keep of [call, answer]) {
    // The first are kept in any case: the process has not yet heard that there is little room.
    let kept = 0;
    while ((await keep("f1", 100_000)) === "kept") expect(++kept).toBeLessThan(40);
    expect(await keep("ben", 100_000)).toBe("kept");
  }
  for (let index = 0; index < 10; index++) {
    expect(await turn(store, own)).toBe(true);
    for (const caller of flood) expect(await turn(store, { caller, sessionId: `more ${index}` })).toBe(true);
  }
  expect(await store.history(own)).toHaveLength(10);
});

test("while there is little room, a caller whose calls have its share makes no further one with effects, and others do", async () => {
  await using redis = await startOwnRedis();
  await redis.ctl("config", "set", "maxmemory", "16mb");
  await redis.ctl("setrange", "ballast", String(12 * 1024 * 1024), "x");
  await using claims = await connectRedisClaimStore(redis.url);
  const claim = (caller: string, id: number) =>
    claims.claim({ caller, toolCallId: `${id}` }, { owner: "o", requestHash: "h", leaseMs: 60_000 });
  await claim("flood", 0);
  let made = 1;
  const more = async (): Promise<void> => {
    for (; made < 3_000; made += 100)
      await Promise.all(Array.from({ length: 100 }, (_, index) => claim("flood", made + index)));
  };
  await expect(more()).rejects.toMatchObject({
    name: "StoreFullError",
    message: expect.stringMatching(/^"flood" makes no further call/),
  });
  expect(made).toBeGreaterThan(1_000); // 512 KiB of 400 bytes each
  expect(await claim("flood", 0)).toMatchObject({ state: "held" });
  expect(await claim("ben", 0)).toMatchObject({ state: "taken" });
});
