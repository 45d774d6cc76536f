import { describe, expect, test } from "vitest";
import { AUDIT_MS, LEASE_MS, READY_MS, type Run, type RunEnd, RunState } from "./run.ts";
import { testRun } from "./test-run.ts";
import { dueAt, type RunEvent, transition, transitions } from "./transitions.ts";

const NOW = 1_000_000;
const end: RunEnd = { code: "ok", at: NOW };
const waiter = { topic: "tool.result.ada", correlationId: "c1", tellAt: NOW + 10, until: NOW + 20 };
const signed = { statement: "{}", signature: "" };
const question = { hash: "q", message: "Which one?", schema: { type: "number" } };
const approval = testRun().approval as NonNullable<Run["approval"]>;

/** A run in each state that any event can happen to. */
const runs: Readonly<Record<RunState, Run>> = {
  parked: testRun({ waiters: [], expiresAt: NOW }),
  ready: testRun({ waiters: [], state: RunState.Ready, readyAt: NOW - READY_MS }),
  running: testRun({ waiters: [], state: RunState.Running, lease: { owner: "p1", until: NOW } }),
  ended: testRun({ waiters: [], state: RunState.Ended, end }),
};

const events: { readonly [Kind in RunEvent["kind"]]: Extract<RunEvent, { kind: Kind }> } = {
  joined: { kind: "joined", waiter, isKept: false },
  told: { kind: "told", waiters: [waiter] },
  decided: { kind: "decided", decision: signed, verdict: { is: "approved" } },
  questioned: { kind: "questioned", owner: "p1", question, expiresAt: NOW + 5 },
  answered: { kind: "answered", answer: { hash: "q", value: 1, operator: "ann" } },
  expired: { kind: "expired", end },
  withdrawn: { kind: "withdrawn", end },
  cancelled: { kind: "cancelled", end },
  asked: { kind: "asked", approval, expiresAt: NOW + 5 },
  refused: { kind: "refused", end },
  unserved: { kind: "unserved", end },
  deferred: { kind: "deferred", until: NOW + 1 },
  audited: { kind: "audited" },
  taken: { kind: "taken", owner: "p1" },
  renewed: { kind: "renewed", owner: "p1" },
  started: { kind: "started", owner: "p1" },
  progressed: { kind: "progressed", owner: "p1", update: { progress: 1 } },
  noted: { kind: "noted", owner: "p1", handle: "task 1" },
  released: { kind: "released", owner: "p1" },
  postponed: { kind: "postponed", owner: "p1", readyAt: NOW + 7 },
  ended: { kind: "ended", owner: "p1", end },
};

/** What becomes of a run, by its state and the event; all else is refused. A decision comes before the time is over. */
const table: Readonly<Record<RunEvent["kind"], Partial<Record<RunState, RunState>>>> = {
  joined: { parked: "parked", ready: "ready", running: "running", ended: "ended" },
  told: { parked: "parked", ready: "ready", running: "running", ended: "ended" },
  decided: { parked: "ready" },
  questioned: { running: "parked" },
  answered: { parked: "ready" },
  expired: { parked: "ended" },
  withdrawn: { parked: "ended", ready: "ended" },
  cancelled: { parked: "ended", ready: "ended" },
  asked: { ready: "parked" },
  refused: { parked: "ended", ready: "ended" },
  unserved: { ready: "ended" },
  deferred: { ready: "ready", running: "running" },
  audited: { ended: "ended" },
  taken: { ready: "running", running: "running" },
  renewed: { running: "running" },
  started: { running: "running" },
  progressed: { running: "running" },
  noted: { running: "running" },
  released: { running: "ready" },
  postponed: { running: "ready" },
  ended: { running: "ended" },
};

describe.each(Object.values(RunState))("of a run that is %s", (state) => {
  test.each(Object.values(events))("$kind leads to what the table says, or is refused in words", (event) => {
    const isInTime = event.kind === "decided" || event.kind === "answered";
    const asks = event.kind === "answered" ? { question } : {};
    const isKept = event.kind === "taken" || event.kind === "told";
    const run = { ...runs[state], ...asks, ...(isInTime ? { expiresAt: NOW + 1 } : {}), ...(isKept ? { isKept } : {}) };
    const next = transition(run, event, NOW);
    const expected = table[event.kind][state];
    if (expected === undefined) {
      expect(next).toBe(`the run is ${state}`);
      expect(transitions[event.kind]).not.toHaveProperty(state);
    } else expect(next).toMatchObject({ state: expected });
  });
});

test("the last updates of a run are kept, and those of a process that has lost it are not", () => {
  let run = runs.running;
  for (let progress = 1; progress <= 25; progress++)
    run = transition(run, { ...events.progressed, update: { progress } }, NOW + progress) as Run;
  expect(run.progress).toHaveLength(20);
  expect(run.progress?.at(-1)).toEqual({ progress: 25, at: NOW + 25 });
  expect(transition(run, { ...events.progressed, owner: "p2" }, NOW)).toBe("another process has taken it over");
});

test("what a caller hears of a run that ends with its wait stays true", () => {
  expect(transition(runs.ready, events.taken, NOW)).toBe("nobody waits for it any more");
  expect(transition({ ...runs.running, waiters: [waiter] }, events.told, NOW)).toBe("it runs");
});

test("a run that has ended stays as it ended, whatever happens", () => {
  for (const event of Object.values(events)) {
    const next = transition(runs.ended, event, NOW);
    if (typeof next !== "string") expect(next).toMatchObject({ state: RunState.Ended, end });
  }
});

test("a run is its owner's until the lease is over, and nobody else's words count", () => {
  const held = { ...runs.running, lease: { owner: "p1", until: NOW + 1 } };
  expect(transition(held, { kind: "taken", owner: "p2" }, NOW)).toBe("another process runs it");
  const taken = transition(held, { kind: "taken", owner: "p2" }, NOW + 1) as Run;
  expect(taken).toMatchObject({ lease: { owner: "p2", until: NOW + 1 + LEASE_MS }, attempt: 1 });
  for (const event of [events.renewed, events.started, events.noted, events.released, events.ended])
    expect(transition(taken, event, NOW)).toBe("another process has taken it over");
});

test("a run that has started is never given back, and starts once", () => {
  const started = transition(runs.running, events.started, NOW) as Run;
  expect(transition(started, events.started, NOW)).toBe("it has started before");
  expect(transition(started, events.released, NOW)).toBe("it has started");
  const again = transition({ ...started, lease: { owner: "p1", until: NOW } }, { kind: "taken", owner: "p2" }, NOW);
  expect(again).toMatchObject({ hasStarted: true, attempt: 1 });
});

test("a run that ends without its tool has what was asked until its line is written", () => {
  const ended = transition(runs.parked, events.cancelled, NOW) as Run;
  expect(ended).toMatchObject({ isAudited: false, message: runs.parked.message, approval: { arguments: "" } });
  const audited = transition(ended, events.audited, NOW) as Run;
  expect([audited.isAudited, audited.message.body, audited.end]).toEqual([undefined, "", end]);
  expect((transition(runs.running, events.ended, NOW) as Run).isAudited).toBeUndefined(); // its line came first
});

test("an end before its time is refused", () => {
  expect(transition({ ...runs.parked, expiresAt: NOW + 1 }, events.expired, NOW)).toBe("its time is not over");
  expect(transition({ ...runs.ready, readyAt: NOW }, events.unserved, NOW)).toBe("an instance may still take it");
  expect(transition({ ...runs.parked, isKept: true }, events.withdrawn, NOW)).toBe("somebody waits for it");
  expect(transition({ ...runs.parked, waiters: [waiter] }, events.withdrawn, NOW)).toBe("somebody waits for it");
  expect(transition(runs.parked, events.decided, NOW)).toBe("its time is over");
  expect(transition({ ...testRun(), approval: undefined }, events.decided, NOW)).toBe("nobody was asked");
});

test("a question takes its answer and no other, and a run that waits for one takes no decision", () => {
  const asked = transition({ ...runs.running, hasStarted: true }, events.questioned, NOW) as Run;
  expect(asked).toMatchObject({ state: RunState.Parked, question, hasStarted: false, lease: undefined });
  expect(transition(asked, events.decided, NOW)).toMatch(/waits for an answer/);
  expect(transition(asked, { kind: "answered", answer: { hash: "p", value: 1, operator: "ann" } }, NOW)).toMatch(
    /another question/,
  );
  expect(transition(runs.parked, events.answered, NOW)).toBe("it asks nothing");
  const answered = transition(asked, events.answered, NOW) as Run;
  expect(answered).toMatchObject({ state: RunState.Ready, question: undefined, answers: [events.answered.answer] });
  const running = { ...answered, state: RunState.Running, lease: { owner: "p1", until: NOW } };
  expect(transition(running, events.questioned, NOW)).toMatchObject({ question, answers: [] }); // its answer had faults
});

test("who asks again waits once, keeps what is kept, and is told once", () => {
  let run = transition({ ...runs.parked, isKept: true }, events.joined, NOW) as Run;
  run = transition(run, { ...events.joined, waiter: { ...waiter, until: NOW + 99 } }, NOW) as Run;
  expect(run).toMatchObject({ isKept: true, waiters: [{ until: NOW + 99 }] });
  expect((transition(run, events.told, NOW) as Run).waiters).toHaveLength(1); // that one waits anew
  expect((transition(run, { kind: "told", waiters: run.waiters }, NOW) as Run).waiters).toEqual([]);
});

test("somebody looks at a run when there is something to do, and at no other time", () => {
  expect(dueAt({ ...runs.parked, isKept: true, expiresAt: NOW })).toBe(NOW);
  expect(dueAt({ ...runs.parked, waiters: [waiter], expiresAt: NOW + 99 })).toBe(waiter.tellAt);
  expect(dueAt(runs.parked)).toBe(0); // nobody waits for it
  expect(dueAt({ ...runs.ready, readyAt: NOW, isKept: true })).toBe(NOW);
  const postponed = transition({ ...runs.running, hasStarted: true }, events.postponed, NOW) as Run;
  expect([postponed.hasStarted, dueAt(postponed)]).toEqual([false, NOW + 7]);
  const deferred = { ...runs.ready, readyAt: NOW, lookAt: NOW + 50, isKept: true };
  expect(dueAt(deferred)).toBe(NOW + 50);
  expect(dueAt({ ...deferred, waiters: [waiter] })).toBe(waiter.tellAt);
  expect(dueAt({ ...runs.running, waiters: [waiter] })).toBe(NOW);
  expect(dueAt(runs.ended)).toBeUndefined();
  expect(dueAt({ ...runs.ended, isAudited: false })).toBe(NOW + AUDIT_MS);
  expect(dueAt({ ...runs.ended, waiters: [waiter] })).toBe(0);
});
