/**
 * A runner of scripts in a cluster, as a process of its own: `node scripts-runner-service.ts JSON`, see
 * ScriptsRunnerOptions. Says "ready" on stdout, and nothing of its scripts.
 */
import { pooledRunner } from "@rockbot/sandbox";
import { kubernetesMaker } from "@rockbot/sandbox/kubernetes";
import type { ScriptsRunnerOptions } from "./scripts-runner-options.ts";

const { floor, jobs, ...cluster } = JSON.parse(process.argv[2] ?? "{}") as ScriptsRunnerOptions;
const { signal } = new AbortController();
const say = (fields: object, text = "") => void process.stderr.write(`${text} ${JSON.stringify(fields)}\n`);
const log = { debug: () => {}, info: () => {}, warn: say, error: say };

await using runner = pooledRunner(kubernetesMaker({ ...cluster, log }), {
  keepBytes: 64 * 1024,
  floor,
  ceiling: jobs.length + floor,
  idleMs: 60_000,
  log,
});
process.stdout.write("ready\n");
await Promise.all(jobs.map((job) => runner.run(job, { signal, deadline: performance.now() + 60_000 })));
await new Promise(() => {}); // whatever it has, its end comes from outside
