import { metrics } from "@opentelemetry/api";
import { ProblemCode, watchProblem } from "@rockbot/base";

/**
 * Why a command has no result: there was no connection, Redis refused it, or the connection was lost before the answer.
 */
export type RedisFailure = "away" | "refused" | "lost";

const connections = new Map<() => boolean, string>();

/**
 * Made when first needed: what is made before telemetry starts, such as while modules load, records nothing for ever.
 */
let made: ReturnType<typeof makeInstruments> | undefined;
function instruments(): ReturnType<typeof makeInstruments> {
  made ??= makeInstruments();
  return made;
}

function makeInstruments() {
  const meter = metrics.getMeter("@rockbot/records");
  meter
    .createObservableGauge("rockbot.redis.up", {
      description: "1 if there is a connection to Redis, else 0, by purpose.",
    })
    .addCallback((result) => {
      const byPurpose = Map.groupBy(connections, ([, purpose]) => purpose);
      for (const [purpose, all] of byPurpose) result.observe(all.every(([isUp]) => isUp()) ? 1 : 0, { purpose });
    });
  return {
    failures: meter.createCounter("rockbot.redis.failures", {
      description: "Commands without a result, by purpose and reason: away, refused or lost.",
    }),
  };
}

export function countRedisFailure(purpose: string, reason: RedisFailure): void {
  instruments().failures.add(1, { purpose, reason });
}

/** Measures whether a connection is up until disposed. */
export function observeRedis(purpose: string, isUp: () => boolean): Disposable {
  instruments();
  connections.set(isUp, purpose);
  const watched = watchProblem(ProblemCode.RedisAway, () => !isUp());
  return {
    [Symbol.dispose]() {
      connections.delete(isUp);
      watched[Symbol.dispose]();
    },
  };
}
