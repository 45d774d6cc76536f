import { Breach, must, NotTried } from "./breach.ts";
import type { Case, CaseResult } from "./case.ts";
import { announcementCases, heartbeatCase, identityCase, listCases } from "./cases/announcements.ts";
import { quickCancelCases, slowCancelCases } from "./cases/cancels.ts";
import { concurrencyCase } from "./cases/concurrency.ts";
import { progressCases } from "./cases/progress.ts";
import { queueCases } from "./cases/queues.ts";
import { quickRepeatCases, slowRepeatCases } from "./cases/repeats.ts";
import { requestCases } from "./cases/requests.ts";
import { restartCases } from "./cases/restarts.ts";
import { robustnessCases } from "./cases/robustness.ts";
import { quickTimeCases, slowTimeCases } from "./cases/time.ts";
import { trafficCases } from "./cases/traffic.ts";
import { ANSWER_MS, Examiner, type ExaminerOptions, START_MS } from "./examiner.ts";

/** Between two looks whether the command still runs. */
const LOOK_MS = 200;

/** Settings of a conformance run. */
export interface ConformanceOptions extends ExaminerOptions {
  /** Gets each result as it is there. */
  readonly onResult?: ((result: CaseResult) => void) | undefined;
}

/**
 * Puts a tool service through the cases of the service contract, from the other end of the bus. Leaves parked messages
 * behind, and nothing else.
 * @throws {Error} if the broker cannot be reached or does not answer
 */
export async function runConformance({
  onResult = () => {},
  ...options
}: ConformanceOptions): Promise<readonly CaseResult[]> {
  await using examiner = await Examiner.open(options);
  const results: CaseResult[] = [];
  const tried = async (one: Case): Promise<CaseResult> => {
    const result = await tryCase(examiner, one);
    results.push(result);
    onResult(result);
    return result;
  };
  const atOnce = (cases: readonly Case[]): Promise<unknown> => Promise.all(cases.map(tried));
  const inTurn = async (cases: readonly Case[]): Promise<void> => {
    for (const one of cases) await tried(one);
  };

  await options.process?.start();
  const presence: Case = { name: "the service takes requests", clause: "requests-queue", run: waitUntilThere };
  if ((await tried(presence)).outcome !== "kept") return results;
  const beating = tried(heartbeatCase);
  await inTurn(listCases);
  await atOnce([...queueCases, ...announcementCases, ...requestCases, ...quickTimeCases, ...quickCancelCases]);
  const { outcome } = await tried(concurrencyCase);
  const slow = [...slowTimeCases, ...slowCancelCases, ...progressCases, ...slowRepeatCases];
  await (outcome === "kept" ? atOnce : inTurn)(slow); // who runs one call at a time is asked for one at a time
  await inTurn(quickRepeatCases);
  await beating;
  await robust(examiner, tried);
  await inTurn(restartCases());
  await inTurn([identityCase, ...trafficCases]);
  return results;
}

async function waitUntilThere(examiner: Examiner): Promise<void> {
  const { service, process } = examiner.options;
  const howEnded = () => process?.howEnded?.();
  if (await examiner.until(async () => (await examiner.isConsumed(LOOK_MS)) || howEnded() !== undefined, START_MS)) {
    const how = howEnded();
    must(
      how === undefined,
      `the command ${how}, and nobody consumes "rockbot.${service}.v1". Its output is on stderr; it gets the bus as BUS_URL`,
    );
    // It may take requests before it hears probes: it hears them once it says that it is there.
    await examiner.until(() => examiner.hearing.heartbeats.length > 0, ANSWER_MS);
  } else throw new Breach(`nobody consumes "rockbot.${service}.v1" after ${START_MS} ms`);
}

/** One after the other; a service that is down after one is started anew, or has seen its last case. */
async function robust(examiner: Examiner, tried: (one: Case) => Promise<CaseResult>): Promise<void> {
  let isGone = false;
  for (const one of robustnessCases) {
    await tried(isGone ? { ...one, run: () => Promise.reject(new NotTried("the service is down")) } : one);
    if (isGone || (await examiner.isUp())) continue;
    await examiner.until(async () => ((await examiner.look())?.messages ?? 0) === 0, 10_000); // what it died over expires
    await examiner.options.process?.start();
    if (examiner.options.process !== undefined) await examiner.isConsumed(START_MS);
    isGone = !(await examiner.isUp());
  }
}

/** @throws what is neither a Breach nor a NotTried */
export async function tryCase<Subject>(subject: Subject, { name, clause, run }: Case<Subject>): Promise<CaseResult> {
  try {
    await run(subject);
    return { name, clause, outcome: "kept" };
  } catch (error) {
    if (error instanceof NotTried) return { name, clause, outcome: "not tried", why: error.message };
    if (error instanceof Breach) return { name, clause, outcome: "broken", why: error.message };
    throw error;
  }
}
