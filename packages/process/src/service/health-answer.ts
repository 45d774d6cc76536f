/** True, or no reasons, is ready. */
export type Readiness = boolean | readonly string[];

/** The answer of a path for probes: a status, and a body as JSON. */
export interface HealthAnswer {
  readonly status: 200 | 503;
  readonly body: object;
}

/** The answer to `/healthz`: the process lives. */
export const aliveAnswer: HealthAnswer = { status: 200, body: { status: "ok" } };

/** The answer to `/readyz`. */
export function readyAnswer(readiness: Readiness): HealthAnswer {
  const reasons = typeof readiness === "boolean" ? [] : readiness;
  const isReady = readiness === true || (readiness !== false && reasons.length === 0);
  return isReady ? { status: 200, body: { status: "ready" } } : { status: 503, body: { status: "not ready", reasons } };
}
