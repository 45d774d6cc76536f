/** The faults that keep a process from its work, for the people who look after it. Heartbeats carry these codes. */
export const ProblemCode = {
  /** Lines of the audit log cannot be written. */
  AuditUnwritten: "audit_unwritten",
  /** The changed policy file cannot be used, and the policy loaded before is in force. */
  PolicyRefused: "policy_refused",
  /** There is no connection to Redis. */
  RedisAway: "redis_away",
  /** What callers have done cannot be written down for their next start. */
  JournalUnwritten: "journal_unwritten",
  /** Calls of a tool are refused, because its last ones had no answer in time. */
  BreakerOpen: "breaker_open",
  /** Notices about calls do not arrive at a receiver. */
  NoticesDead: "notices_dead",
} as const;
export type ProblemCode = (typeof ProblemCode)[keyof typeof ProblemCode];

const watched = new Map<() => boolean, ProblemCode>();

/** Has the process name the problem while `isSo` says so, until disposed. */
export function watchProblem(code: ProblemCode, isSo: () => boolean): Disposable {
  watched.set(isSo, code);
  return { [Symbol.dispose]: () => void watched.delete(isSo) };
}

/** The problems that this process has now, sorted. */
export const standingProblems = (): ProblemCode[] =>
  [...new Set([...watched].flatMap(([isSo, code]) => (isSo() ? [code] : [])))].sort();
