import { newId } from "@rockbot/contracts";
import { describe, expect, test, vi } from "vitest";
import type { HistoryTurn, SessionKey } from "../words/session.ts";
import type { StoredAnswer, TurnClaim, TurnLease, TurnRecord, TurnStore } from "./turn-store.ts";

/** A store, and a second one that sees the same records if the store is shared. */
export interface StorePair extends AsyncDisposable {
  readonly store: TurnStore;
  readonly other: TurnStore;
}

const record: TurnRecord = { nonce: "ab", startedAt: 1, hasReadUntrusted: false, answers: [], results: new Map() };
const newSession = (): SessionKey => ({ caller: "ann", sessionId: newId() });
const claimOf = (turnId: string, more: Partial<TurnClaim> = {}): TurnClaim => ({
  turnId,
  owner: newId(),
  leaseMs: 30_000,
  maxWaiting: 16,
  record,
  ...more,
});
const answer = (text: string): StoredAnswer => ({
  text,
  toolCalls: [],
  finish: "stop",
  usage: { inputTokens: 1, outputTokens: 1 },
});
const result = {
  text: "done",
  finish: "stop",
  usage: { inputTokens: 1, outputTokens: 1 },
  hasReadUntrusted: false,
} as const;
const said = (content: string) => ({ role: "user", content, at: 1 }) as const;

async function taken(store: TurnStore, session: SessionKey, claim = claimOf(newId())): Promise<TurnLease> {
  const answered = await store.take(session, claim);
  if (answered.state !== "taken") throw new Error(`the session was not taken: ${JSON.stringify(answered)}`);
  return { turnId: claim.turnId, owner: claim.owner, fence: answered.fence };
}

type Open = (options?: { readonly sessionKeptMs?: number }) => Promise<StorePair>;

/** The promises of every store of turns. */
export function testTurnStore(name: string, open: Open): void {
  describe(name, () => {
    waiting(open);
    places(open);
    leases(open);
    records(open);
    sessions(open);
  });
}

function waiting(open: () => Promise<StorePair>): void {
  test("one turn of a session has it at a time; the others wait in the order of their coming", async () => {
    await using pair = await open();
    const { store, other } = pair;
    const session = newSession();
    const [first, second, third] = [claimOf("first"), claimOf("second"), claimOf("third")];
    const lease = await taken(store, session, first);
    expect(await other.take(session, second)).toEqual({ state: "waiting", ahead: 1 });
    expect(await store.take(session, third)).toEqual({ state: "waiting", ahead: 2 });
    expect(await store.take({ ...session, caller: "ben" }, third)).toMatchObject({ state: "taken" });
    expect(await store.end(session, lease, result, [])).toBe(true);
    expect(await store.take(session, third)).toMatchObject({ state: "waiting" });
    expect(await other.take(session, second)).toMatchObject({ state: "taken", record: undefined });
  });

  test("no more than may wait are taken, and one that waits already may ask again", async () => {
    await using pair = await open();
    const { store } = pair;
    const session = newSession();
    await taken(store, session);
    const waiting = claimOf("waiting", { maxWaiting: 1 });
    expect(await store.take(session, waiting)).toMatchObject({ state: "waiting" });
    expect(await store.take(session, claimOf("late", { maxWaiting: 1 }))).toEqual({ state: "full", waiting: 1 });
    expect(await store.take(session, waiting)).toMatchObject({ state: "waiting" });
    await store.leave(session, "waiting", waiting.owner);
    expect(await store.take(session, claimOf("late", { maxWaiting: 1 }))).toMatchObject({ state: "waiting" });
  });

  test("a waiting turn that falls silent loses its place", async () => {
    await using pair = await open();
    const { store } = pair;
    const session = newSession();
    const lease = await taken(store, session);
    await store.take(session, claimOf("silent", { leaseMs: 50 }));
    await store.end(session, lease, result, []);
    await expect
      .poll(async () => (await store.take(session, claimOf("next", { leaseMs: 50 }))).state, { timeout: 5_000 })
      .toBe("taken");
  });
}

// Long because: its tests need the same helpers
function places(open: () => Promise<StorePair>): void {
  const place = (turnId: string) => ({ turnId, placeMs: 30_000, maxWaiting: 16 });

  test("turns that were given places have the session in that order, whichever asks first", async () => {
    await using pair = await open();
    const { store, other } = pair;
    const session = newSession();
    for (const turnId of ["first", "second", "third"]) await store.place(session, place(turnId));
    await other.place(session, place("second")); // delivered once more: it keeps its place
    expect(await other.take(session, claimOf("third"))).toEqual({ state: "waiting", ahead: 2 });
    const lease = await taken(other, session, claimOf("first"));
    expect(await store.take(session, claimOf("second"))).toMatchObject({ state: "waiting" });
    await other.end(session, lease, result, []);
    expect(await store.take(session, claimOf("third"))).toMatchObject({ state: "waiting" });
    expect(await store.take(session, claimOf("second"))).toMatchObject({ state: "taken" });
    await store.place(session, place("first")); // it has ended
    expect(await store.take(session, claimOf("late"))).toEqual({ state: "waiting", ahead: 2 });
  });

  test("a place that nobody comes for is given up, at once if its turn leaves it; and there are no more places than may wait", async () => {
    await using pair = await open();
    const { store } = pair;
    const session = newSession();
    await store.place(session, { ...place("silent"), placeMs: 50 });
    await store.place(session, place("left"));
    await store.place(session, { ...place("too many"), maxWaiting: 1 });
    await store.leave(session, "left", "");
    await expect.poll(async () => (await store.take(session, claimOf("next"))).state, { timeout: 5_000 }).toBe("taken");
  });

  test("a turn gets on as long as it is not taken ten times without an answer or a result; what waits behind another gets on, too", async () => {
    await using pair = await open();
    const { store, other } = pair;
    const session = newSession();
    expect(await store.getsOn(session, "turn")).toBe(false); // nothing is known of it
    await store.place(session, place("turn"));
    expect(await store.getsOn(session, "turn")).toBe(false); // nothing holds it up
    const take = (leaseMs?: number) =>
      vi.waitFor(() => taken(other, session, claimOf("turn", leaseMs === undefined ? {} : { leaseMs })), {
        timeout: 5_000,
        interval: 1,
      });
    const die = async (times: number) => {
      for (let time = 0; time < times; time++) await take(5);
    };
    const getOn = async (write: (lease: TurnLease) => Promise<boolean>) => {
      const lease = await take();
      expect(await write(lease)).toBe(true);
      await store.leave(session, "turn", lease.owner);
    };
    const first = await taken(store, session, claimOf("turn", { leaseMs: 1_000 }));
    await store.place(session, place("behind"));
    expect(await store.getsOn(session, "behind")).toBe(true);
    await store.leave(session, "behind", "");
    await store.leave(session, "turn", first.owner); // as a process does that stops: this taking does not count
    await die(9);
    expect(await store.getsOn(session, "turn")).toBe(true);
    await getOn((lease) => store.addAnswer(session, lease, 0, answer("a")));
    await die(9);
    expect(await store.getsOn(session, "turn")).toBe(true);
    await getOn((lease) =>
      store.addResult(session, lease, "call", { content: "", isError: false, isUntrusted: false }),
    );
    await die(10);
    expect(await other.getsOn(session, "turn")).toBe(false);
    await store.end(session, await take(), result, []);
    expect(await store.getsOn(session, "turn")).toBe(false);
  });
}

function leases(open: () => Promise<StorePair>): void {
  test("a lease that is not renewed lapses, the next has a higher fence, and the one before writes nothing more", async () => {
    await using pair = await open();
    const { store, other } = pair;
    const session = newSession();
    const old = await taken(store, session, claimOf("turn", { leaseMs: 50 }));
    await expect.poll(async () => (await other.take(session, claimOf("turn"))).state, { timeout: 5_000 }).toBe("taken");
    expect(await store.renew(session, old, 1_000)).toBe(false);
    expect(await store.addAnswer(session, old, 0, answer("late"))).toBe(false);
    expect(await store.addResult(session, old, "c", { content: "", isError: false, isUntrusted: false })).toBe(false);
    expect(await store.end(session, old, result, [said("late")])).toBe(false);
    await store.leave(session, "turn", old.owner);
    expect((await other.take(session, claimOf("next"))).state).toBe("waiting");
    expect(await store.history(session)).toEqual([]);
  });

  test("a turn that was begun goes before those that wait, also when its process left", async () => {
    await using pair = await open();
    const { store, other } = pair;
    const session = newSession();
    const lease = await taken(store, session, claimOf("begun"));
    await store.take(session, claimOf("waits"));
    await store.leave(session, "begun", lease.owner);
    expect(await store.take(session, claimOf("waits"))).toMatchObject({ state: "waiting", ahead: 0 });
    const again = await taken(other, session, claimOf("begun"));
    expect(again.fence).toBeGreaterThan(lease.fence);
  });

  test("a lease that is renewed holds", async () => {
    await using pair = await open();
    const { store } = pair;
    const session = newSession();
    const lease = await taken(store, session, claimOf("turn", { leaseMs: 500 }));
    expect(await store.renew(session, lease, 30_000)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await store.addAnswer(session, lease, 0, answer("a"))).toBe(true);
  });
}

function records(open: () => Promise<StorePair>): void {
  test("a turn that is taken up has its record, its answers in order, and the first result of each call", async () => {
    await using pair = await open();
    const { store, other } = pair;
    const session = newSession();
    const claim = claimOf("turn", { record: { ...record, nonce: "first" } });
    const lease = await taken(store, session, claim);
    expect(await store.take(session, claim)).toMatchObject({
      state: "taken",
      fence: lease.fence,
      record: { nonce: "first" },
    }); // as its answer was lost
    expect(await store.addAnswer(session, lease, 0, answer("a"))).toBe(true);
    expect(await store.addAnswer(session, lease, 0, answer("a"))).toBe(true); // asked for again, as its answer was lost
    expect(await store.addAnswer(session, lease, 0, answer("another"))).toBe(false);
    expect(await store.addAnswer(session, lease, 2, answer("c"))).toBe(false);
    expect(await store.addAnswer(session, lease, 1, answer("b"))).toBe(true);
    await store.addResult(session, lease, "call", { content: "one", isError: false, isUntrusted: true, origin: "x" });
    await store.addResult(session, lease, "call", { content: "two", isError: false, isUntrusted: false });
    await store.leave(session, "turn", lease.owner);
    const again = await other.take(session, claimOf("turn"));
    expect(again).toMatchObject({
      state: "taken",
      record: { nonce: "first", startedAt: 1, answers: [answer("a"), answer("b")] },
    });
    expect(again.state === "taken" && again.record?.results).toEqual(
      new Map([["call", { content: "one", isError: false, isUntrusted: true, origin: "x" }]]),
    );
  });

  test("a record that a store has lost is given back whole", async () => {
    await using pair = await open();
    const { store } = pair;
    const session = newSession();
    const lost = { turnId: "turn", owner: "o", fence: 1 };
    expect(await store.addAnswer(session, lost, 0, answer("a"))).toBe(false);
    const results = new Map([["call", { content: "one", isError: false, isUntrusted: false }]]);
    const lease = await taken(
      store,
      session,
      claimOf("turn", { record: { ...record, answers: [answer("a")], results } }),
    );
    expect(await store.addAnswer(session, lease, 1, answer("b"))).toBe(true);
    await store.leave(session, "turn", lease.owner);
    expect(await store.take(session, claimOf("turn"))).toMatchObject({
      record: { answers: [answer("a"), answer("b")], results },
    });
  });

  test("the result of a turn stays, whoever asks, and the history has it once", async () => {
    await using pair = await open();
    const { store, other } = pair;
    const session = newSession();
    const lease = await taken(store, session, claimOf("turn"));
    expect(await store.end(session, lease, result, [said("hello")])).toBe(true);
    expect(await store.end(session, lease, result, [said("hello")])).toBe(true);
    expect(await store.end(session, lease, { ...result, text: "another" }, [said("another")])).toBe(false);
    expect(await other.take(session, claimOf("turn"))).toEqual({ state: "ended", result });
    expect(await other.history(session)).toEqual([said("hello")]);
  });
}

// Long because: it is a list of tests
function sessions(open: Open): void {
  test("a session is forgotten once it was without a turn for its time, and begins anew", async () => {
    await using pair = await open({ sessionKeptMs: 1_000 });
    const { store, other } = pair;
    const session = newSession();
    await store.end(session, await taken(store, session), result, [said("hello")]);
    expect(await other.history(session)).toEqual([said("hello")]);
    await expect.poll(() => other.history(session)).toEqual([]);
    expect(await store.take(session, claimOf("next"))).toMatchObject({ state: "taken", history: [] });
  });

  test("a session remembers its newest 50 messages, also those that were noted", async () => {
    await using pair = await open();
    const { store } = pair;
    const session = newSession();
    const entries = Array.from({ length: 60 }, (_, index) => said(`${index}`));
    const lease = await taken(store, session);
    await store.end(session, lease, result, entries);
    await store.note(session, said("noted"));
    const history = await store.history(session);
    expect([history.length, history[0], history.at(-1)]).toEqual([50, said("11"), said("noted")]);
    expect(await store.take(session, claimOf("next"))).toMatchObject({ history });
    expect(await store.history({ ...session, caller: "ben" })).toEqual([]);
  });

  test("lists a caller's sessions in which a user has spoken, the one last spoken in first, and no other's", async () => {
    await using pair = await open();
    const { store, other } = pair;
    const caller = newId();
    const end = async (sessionId: string, ...history: HistoryTurn[]) =>
      store.end({ caller, sessionId }, await taken(store, { caller, sessionId }), result, history);
    await end("old", { ...said("a"), at: 1 }, { role: "assistant", content: "Yes.", at: 9 });
    await end("new", { ...said("b".repeat(300)), at: 2, isUntrusted: true });
    for (const sessionId of ["old", "run"]) await end(sessionId, { ...said("do"), at: 4, origin: "schedule" });

    const [first, last] = [
      { caller, sessionId: "new", at: 2, said: "b".repeat(200), isUntrusted: true },
      { caller, sessionId: "old", at: 1, said: "a" },
    ];
    expect(await other.sessions(caller)).toEqual([first, last]);
    await end("old", { ...said("c"), at: 5 });
    expect(await other.sessions(caller)).toEqual([{ ...last, at: 5, said: "c" }, first]);
    expect(await other.sessions(newId())).toEqual([]);
  });

  test("events have numbers without gaps, whoever adds them; the newest 1 000 are kept", async () => {
    await using pair = await open();
    const { store, other } = pair;
    const session = newSession();
    const at = new Date().toISOString();
    const events = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ at, kind: "text", text: `${index}` }) as const);
    expect(await store.addEvents(session, "turn", events(2), 0)).toMatchObject([
      { sequence: 1, turnId: "turn", sessionId: session.sessionId },
      { sequence: 2 },
    ]);
    await other.addEvents(session, "turn", events(1_000), 0);
    expect(await store.events(session, 1_000, 500)).toMatchObject({
      events: [{ sequence: 1_001 }, { sequence: 1_002, text: "999" }],
      last: 1_002,
    });
    expect((await store.events(session, 0, 500)).events.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: 500 }, (_, index) => index + 3),
    );
    expect(await store.addEvents(session, "turn", events(1), 2_000)).toMatchObject([{ sequence: 2_001 }]);
  });

  test("events older than a quarter of an hour are gone, and their numbers are not given again", async () => {
    await using pair = await open();
    const { store } = pair;
    const session = newSession();
    const old = new Date(Date.now() - 16 * 60_000).toISOString();
    await store.addEvents(session, "turn", [{ at: old, kind: "turn_started" }], 0);
    expect(await store.events(session, 0, 10)).toEqual({ events: [], last: 1 });
  });
}
