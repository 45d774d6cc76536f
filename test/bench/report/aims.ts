import type { Measure } from "./summary.ts";

/** What ours is to reach, as a ratio to its reference in the same round. */
export interface Aim {
  readonly contender: string;
  readonly concurrency: number;
  /** True for the case of a lone caller that thinks between its calls. */
  readonly isPaced?: true;
  readonly measure: Measure;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly about: string;
}

/** All with a text of 200 B. */
export const aims: readonly Aim[] = [
  { contender: "rockbot", concurrency: 64, measure: "callsPerSecond", atLeast: 1, about: "calls/s at 64" },
  { contender: "rockbot", concurrency: 512, measure: "callsPerSecond", atLeast: 0.95, about: "calls/s at 512" },
  {
    contender: "rockbot",
    concurrency: 64,
    measure: "allCpu",
    atMost: 0.95,
    about: "CPU of all processes, with the broker's and Redis's, at 64",
  },
  { contender: "rockbot", concurrency: 64, measure: "ownCpu", atMost: 1.2, about: "CPU of caller and service at 64" },
  { contender: "rockbot", concurrency: 1, measure: "p50", atMost: 1.3, about: "p50 of a lone caller" },
  {
    contender: "rockbot",
    concurrency: 1,
    isPaced: true,
    measure: "p50",
    atMost: 1.15,
    about: "p50 of a lone caller that thinks between calls",
  },
  {
    contender: "rockbot",
    concurrency: 1,
    isPaced: true,
    measure: "allCpu",
    atMost: 1.3,
    about: "CPU of all processes, with the broker's and Redis's, of such a caller",
  },
  {
    contender: "rockbot-fast",
    concurrency: 64,
    measure: "callsPerSecond",
    atLeast: 1.6,
    about: "calls/s at 64 by the fast lane",
  },
  {
    contender: "rockbot-deployed",
    concurrency: 64,
    measure: "callsPerSecond",
    atLeast: 0.8,
    about: "calls/s at 64 as deployed, to rockbot",
  },
  {
    contender: "rockbot-deployed",
    concurrency: 64,
    measure: "allCpu",
    atMost: 1.25,
    about: "CPU of all processes at 64 as deployed, to rockbot",
  },
  {
    contender: "rockbot-http",
    concurrency: 64,
    measure: "callsPerSecond",
    atLeast: 0.75,
    about: "calls/s at 64 by HTTP, to rockbot",
  },
  {
    contender: "rockbot-claims",
    concurrency: 64,
    measure: "callsPerSecond",
    atLeast: 0.75,
    about: "calls/s at 64, each call claimed in Redis",
  },
  {
    contender: "rockbot-memory-bus",
    concurrency: 64,
    measure: "callsPerSecond",
    atLeast: 0.33,
    about: "calls/s of the in-memory bus at 64, against a function call",
  },
  {
    contender: "rockbot-memory",
    concurrency: 64,
    measure: "callsPerSecond",
    atLeast: 0.33,
    about: "calls/s of a tool in memory at 64, against a function call",
  },
];
