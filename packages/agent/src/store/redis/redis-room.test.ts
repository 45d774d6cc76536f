import { newId } from "@rockbot/contracts";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { startOwnRedis } from "@rockbot/testing";
import { expect, test } from "vitest";
import type { SessionKey, TurnRecord, TurnStore } from "../turn-store.ts";
import { connectRedisTurnStore } from "./redis-turn-store.ts";

const record: TurnRecord = { nonce: "ab", startedAt: 1, hasReadUntrusted: false, answers: [], results: new Map() };
const result = { text: "done", finish: "stop", usage: { inputTokens: 1, outputTokens: 1 }, hasReadUntrusted: false } as const;
const TEXT = "x".repeat(250_000);
const claimOf = (turnId: string) => ({ turnId, owner: newId(), leaseMs: 60_000, maxWaiting: 16, record });
const answerOf = (text: string) => ({ text, toolCalls: [], finish: "stop", usage: { inputTokens: 1, outputTokens: 1 } }) as const;

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

test("one caller with a session for each of its large messages takes no more than its share, and others chat and call on", async () => {
  await using redis = await startOwnRedis();
  await redis.ctl("config", "set", "maxmemory", "32mb", "maxmemory-policy", "noeviction");
  await using store = await connectRedisTurnStore(redis.url);
  await using claims = await connectRedisClaimStore(redis.url);
  const own = { caller: "ben", sessionId: "own" };
  await turn(store, own);
  for (let index = 0; index < 200; index++) expect(await turn(store, { caller: "flood", sessionId: `s${index}` })).toBe(true); // 50 MB
  const kept = await Promise.all(Array.from({ length: 200 }, async (_, index) => (await store.history({ caller: "flood", sessionId: `s${index}` })).length));
  const count = kept.filter((length) => length > 0).length;
  expect(count).toBeGreaterThan(15); // 3/16 of 32 MiB
  expect(count).toBeLessThan(26);
  expect(kept.lastIndexOf(0)).toBe(199 - count); // its oldest have made room
  expect(await turn(store, own)).toBe(true);
  expect(await store.history(own)).toHaveLength(2);

  // What is counted in process: replies of one caller beyond its share are not kept, others' are.
  const call = async (caller: string, size: number): Promise<string> => {
    const key = { caller, toolCallId: newId() };
    const taken = await claims.claim(key, { owner: "o", requestHash: "h", leaseMs: 1_000 });
    if (taken.state !== "taken") throw new Error(taken.state);
    expect(await claims.complete(taken.claim, new Uint8Array(size))).toBe(true);
    const after = await claims.look(key);
    return after?.state === "done" && after.reply !== undefined ? "kept" : "not kept";
  };
  const answers: string[] = [];
  for (let index = 0; index < 160; index++) answers.push(await call("flood", 250_000)); // 40 MB
  expect(answers).toContain("kept");
  expect(answers.at(-1)).toBe("not kept");
  expect(await call("ben", 100_000)).toBe("kept");
  expect(await turn(store, own)).toBe(true);
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
    return (await store.addAnswer(session, { ...claim, fence: taken.fence }, 0, answerOf(TEXT.repeat(4)))) ? taken : undefined;
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
