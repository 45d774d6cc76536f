import {
  type Answer,
  type Approval,
  AUDIT_MS,
  asksCaller,
  LEASE_MS,
  MAX_PROGRESS,
  MAX_WAITERS,
  type Question,
  READY_MS,
  type Run,
  type RunEnd,
  type RunProgress,
  RunState,
  type SignedDecision,
  type Waiter,
} from "./run.ts";

/** The events of a run. */
export type RunEvent =
  /** A caller sends the call again, or for the first time. */
  | { readonly kind: "joined"; readonly waiter: Waiter; readonly isKept: boolean }
  /** Waiters have heard how it stands, or how it ended. */
  | { readonly kind: "told"; readonly waiters: readonly Waiter[] }
  /** An operator's decision, whose signature was verified. */
  | { readonly kind: "decided"; readonly decision: SignedDecision; readonly verdict: Verdict }
  /** The tool asks a person before it has any effect: it runs again from its beginning, with the answer. */
  | { readonly kind: "questioned"; readonly owner: string; readonly question: Question; readonly expiresAt: number }
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "expired"; readonly end: RunEnd }
  /** Nobody waits, and the run is not kept. */
  | { readonly kind: "withdrawn"; readonly end: RunEnd }
  | { readonly kind: "cancelled"; readonly end: RunEnd }
  /** Something that the decision was about has changed, so it is asked for again. */
  | { readonly kind: "asked"; readonly approval: Approval; readonly expiresAt: number }
  /** It may not run any more: the caller's rights are gone, or its arguments do not fit the tool. */
  | { readonly kind: "refused"; readonly end: RunEnd }
  | { readonly kind: "unserved"; readonly end: RunEnd }
  /** An instance without its tool has looked at it. */
  | { readonly kind: "deferred"; readonly until: number }
  /** The line of its end is in the audit log. */
  | { readonly kind: "audited" }
  | { readonly kind: "taken"; readonly owner: string }
  | { readonly kind: "renewed"; readonly owner: string }
  /** Right before the tool runs. */
  | { readonly kind: "started"; readonly owner: string }
  /** Its tool says how far it has come. */
  | { readonly kind: "progressed"; readonly owner: string; readonly update: Omit<RunProgress, "at"> }
  /** Its tool goes on elsewhere: any process can take it up by the handle from now on. */
  | { readonly kind: "noted"; readonly owner: string; readonly handle: string }
  /** Its owner gives it back, before the tool has run. */
  | { readonly kind: "released"; readonly owner: string }
  /** Its tool, which can be taken up, waits for something else: it runs again from its beginning then. */
  | { readonly kind: "postponed"; readonly owner: string; readonly readyAt: number }
  | { readonly kind: "ended"; readonly owner: string; readonly end: RunEnd };

/** How a decision leaves the run: rejected, approved by all that are needed, or by some of them. */
export type Verdict =
  | { readonly is: "rejected"; readonly end: RunEnd }
  | { readonly is: "approved" }
  | { readonly is: "partly" };

type Kind = RunEvent["kind"];
type Event<Of extends Kind> = Extract<RunEvent, { kind: Of }>;
type Change<Of extends Kind> = (run: Run, event: Event<Of>, now: number) => Run | string;

/**
 * The table of transitions: the states in which each event may happen, and what becomes of the run. What is not here is
 * refused.
 */
export const transitions: {
  readonly [Of in Kind]: Readonly<Partial<Record<RunState, Change<Of>>>>;
} = {
  joined: { parked: join, ready: join, running: join, ended: join },
  told: {
    parked: tell,
    ready: tell,
    running: (run, event) => (run.isKept ? tell(run, event) : "it runs"),
    ended: tell,
  },
  decided: { parked: decide },
  questioned: {
    running: own((run, { question, expiresAt }) => ({
      ...run,
      state: RunState.Parked,
      question,
      // An answer with faults is asked for again, and gives way.
      answers: run.answers?.filter(({ hash }) => hash !== question.hash),
      expiresAt,
      isKept: run.isKept || asksCaller({ ...run, question }), // nobody waits while that person is asked
      hasStarted: false,
      lease: undefined,
    })),
  },
  answered: { parked: answer },
  expired: { parked: (run, { end }, now) => (now < run.expiresAt ? "its time is not over" : endBefore(run, end)) },
  withdrawn: {
    parked: (run, { end }) => (run.isKept || run.waiters.length > 0 ? "somebody waits for it" : endBefore(run, end)),
    ready: (run, { end }) => (run.isKept || run.waiters.length > 0 ? "somebody waits for it" : endBefore(run, end)),
  },
  cancelled: { parked: (run, { end }) => endBefore(run, end), ready: (run, { end }) => endBefore(run, end) },
  asked: {
    ready: (run, { approval, expiresAt }) => ({
      ...run,
      state: RunState.Parked,
      approval,
      expiresAt,
      readyAt: undefined,
    }),
  },
  refused: { parked: (run, { end }) => endWith(run, end), ready: (run, { end }) => endWith(run, end) },
  unserved: {
    ready: (run, { end }, now) =>
      now < (run.readyAt ?? 0) + READY_MS ? "an instance may still take it" : endBefore(run, end),
  },
  deferred: {
    ready: (run, { until }) => ({ ...run, lookAt: until }),
    running: (run, { until }) => ({ ...run, lookAt: until }),
  },
  audited: { ended: ({ isAudited: _, ...run }) => ({ ...run, message: { ...run.message, body: "" } }) },
  taken: { ready: take, running: take },
  renewed: { running: own((run, { owner }, now) => ({ ...run, lease: { owner, until: now + LEASE_MS } })) },
  started: { running: own((run) => (run.hasStarted ? "it has started before" : { ...run, hasStarted: true })) },
  progressed: {
    running: own((run, { update }, at) => ({
      ...run,
      progress: [...(run.progress ?? []), { ...update, at }].slice(-MAX_PROGRESS),
    })),
  },
  noted: {
    running: own((run, { handle }, now) => ({ ...run, handle: { text: handle, at: run.handle?.at ?? now } })),
  },
  released: {
    running: own((run, _event, now) =>
      run.hasStarted ? "it has started" : { ...run, state: RunState.Ready, readyAt: now, lease: undefined },
    ),
  },
  postponed: {
    running: own((run, { readyAt }) => {
      const expiresAt = Math.max(run.expiresAt, readyAt);
      return { ...run, state: RunState.Ready, readyAt, expiresAt, hasStarted: false, lease: undefined };
    }),
  },
  ended: { running: own((run, { end }) => endWith(run, end)) },
};

/**
 * The run after an event.
 * @returns why the event cannot happen to it now, in words, which complete "…, as it"
 */
export function transition(run: Run, event: RunEvent, now: number): Run | string {
  const change = transitions[event.kind][run.state] as Change<Kind> | undefined;
  if (change === undefined) return `the run is ${run.state}`;
  return change(run, event as never, now);
}

/** When somebody has to look at the run; undefined for never. */
export function dueAt(run: Run): number | undefined {
  const { state, waiters, expiresAt, readyAt = 0, lookAt = 0, lease, isKept, end, isAudited } = run;
  const isDue = (waiter: Waiter): boolean => state === RunState.Ended || hearsNow(run, waiter);
  const tellAt = Math.min(...waiters.map((waiter) => (isDue(waiter) ? 0 : waiter.tellAt)));
  const told = Number.isFinite(tellAt) ? tellAt : undefined;
  switch (state) {
    case RunState.Parked:
      return Math.min(expiresAt, told ?? (isKept ? expiresAt : 0));
    case RunState.Ready:
      return Math.min(Math.max(readyAt, lookAt), told ?? Number.POSITIVE_INFINITY);
    case RunState.Running:
      return Math.min(Math.max(lease?.until ?? 0, lookAt), (isKept ? told : undefined) ?? Number.POSITIVE_INFINITY);
    case RunState.Ended:
      return told ?? (isAudited === false ? (end?.at ?? 0) + AUDIT_MS : undefined);
  }
}

/** Tells whether a waiter is to hear now that the run waits, whenever it leaves. */
export const hearsNow = (run: Run, { hears }: Waiter): boolean =>
  run.state === RunState.Parked && (hears === "parked" || (hears === "question" && asksCaller(run)));

function join(run: Run, { waiter, isKept }: Event<"joined">): Run {
  const others = run.waiters.filter(
    ({ topic, correlationId }) => topic !== waiter.topic || correlationId !== waiter.correlationId,
  );
  return { ...run, waiters: [...others, waiter].slice(-MAX_WAITERS), isKept: run.isKept || isKept };
}

function tell(run: Run, { waiters }: Event<"told">): Run {
  const isTold = ({ topic, correlationId, until }: Waiter): boolean =>
    waiters.some((each) => each.topic === topic && each.correlationId === correlationId && each.until === until);
  return { ...run, waiters: run.waiters.filter((waiter) => !isTold(waiter)) };
}

function decide(run: Run, { decision, verdict }: Event<"decided">, now: number): Run | string {
  const { approval } = run;
  if (run.question !== undefined) return "it waits for an answer, and not for a decision";
  if (approval === undefined) return "nobody was asked";
  if (now >= run.expiresAt) return "its time is over";
  const decided = { ...run, approval: { ...approval, decisions: [...approval.decisions, decision] } };
  switch (verdict.is) {
    case "rejected":
      return endBefore(decided, verdict.end);
    case "approved":
      return { ...decided, state: RunState.Ready, readyAt: now };
    case "partly":
      return decided;
  }
}

/** A run that is ready, or whose owner is gone. */
function take(run: Run, { owner }: Event<"taken">, now: number): Run | string {
  if (run.lease !== undefined && run.lease.until > now) return "another process runs it";
  if (run.state === RunState.Ready && !run.isKept && run.waiters.length === 0) return "nobody waits for it any more";
  return { ...run, state: RunState.Running, lease: { owner, until: now + LEASE_MS }, attempt: run.attempt + 1 };
}

function answer(run: Run, { answer: given }: Event<"answered">, now: number): Run | string {
  if (run.question === undefined) return "it asks nothing";
  if (run.question.hash !== given.hash) return "it asks another question by now";
  if (now >= run.expiresAt) return "its time is over";
  return { ...run, state: RunState.Ready, readyAt: now, question: undefined, answers: [...(run.answers ?? []), given] };
}

/** An event of the process that runs it. */
function own<
  Of extends "renewed" | "started" | "progressed" | "noted" | "released" | "postponed" | "ended" | "questioned",
>(change: Change<Of>): Change<Of> {
  return (run, event, now) =>
    run.lease?.owner === (event as { readonly owner: string }).owner
      ? change(run, event, now)
      : "another process has taken it over";
}

/** What was asked is not kept with the end: a caller may have many of these. */
const endWith = ({ message, approval, handle: _, ...run }: Run, end: RunEnd): Run => ({
  ...run,
  message: { ...message, body: "" },
  approval: approval && { ...approval, arguments: "" },
  state: RunState.Ended,
  lease: undefined,
  end,
});

/** Ends a run whose tool has not begun: nobody has written the line of its end yet, which needs what was asked. */
const endBefore = (run: Run, end: RunEnd): Run => ({ ...endWith(run, end), message: run.message, isAudited: false });
