import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { ScriptRunner } from "../script-runner.ts";
import { canaryScript } from "./canary-script.ts";
import type { CanaryTarget } from "./canary-targets.ts";
import { REACH_MS, reachTarget } from "./reach-target.ts";

/** The result of an attempt to reach a target from a sandbox. */
export const CanaryVerdict = {
  /** This process reaches it, the sandbox does not. */
  Blocked: "blocked",
  /** The sandbox reaches it. */
  Reached: "reached",
  /** Nothing is known: this process does not reach it either, or no sandbox could try. */
  NotTestable: "not testable",
} as const;
export type CanaryVerdict = (typeof CanaryVerdict)[keyof typeof CanaryVerdict];

/** The targets that a script could reach, and why no scripts run in that case. */
export interface CanaryReport {
  /** The verdicts by the targets' names. */
  readonly verdicts: Readonly<Record<string, CanaryVerdict>>;
  /** Why no script may run here, in words for the operator; undefined if scripts have no network. */
  readonly refusal: string | undefined;
}

/** How long the check may take, and what ends it. */
export interface CheckNetworkOptions {
  readonly signal: AbortSignal;
  /** How long the sandbox for it may take, in milliseconds. @default 120_000 */
  readonly timeoutMs?: number | undefined;
}

const SCRIPT_MS = 15_000;
const LOOPBACK = "127.0.0.1";

/**
 * Lets a script try what scripts must not be able to do. A policy that denies them the network is only as good as its
 * enforcement. Besides the targets, the script tries this process itself, which can always be reached. Never rejects:
 * where the script could try nothing, that is a reason to refuse as well.
 */
export async function checkNetwork(
  runner: ScriptRunner,
  others: readonly CanaryTarget[],
  options: CheckNetworkOptions,
): Promise<CanaryReport> {
  await using self = await listen();
  const targets = [...others, self.target];
  const addresses = await Promise.all(targets.map(reachTarget));
  const testable = targets.flatMap((target, index) => {
    const address = addresses[index];
    return address === undefined
      ? []
      : [{ name: target.name, address, port: target.port, protocol: target.protocol ?? "tcp" }];
  });
  const untested = targets.filter((_, index) => addresses[index] === undefined);
  const missing = untested.find(({ isRequired }) => isRequired);
  let reached: readonly string[] | undefined;
  let refusal =
    missing && `the manager itself does not reach ${missing.name}, so that it cannot be shown that scripts do not`;
  try {
    reached = await reachedBySandbox(runner, testable, options);
    if (reached.length > 0) refusal = reachedRefusal(reached);
  } catch (error) {
    refusal ??= `it could not be tried whether they have a network: ${error instanceof Error ? error.message : String(error)}`;
  }
  const verdict = (target: CanaryTarget): CanaryVerdict => {
    if (reached === undefined || untested.includes(target)) return CanaryVerdict.NotTestable;
    return reached.includes(target.name) ? CanaryVerdict.Reached : CanaryVerdict.Blocked;
  };
  return {
    verdicts: Object.fromEntries(targets.map((target) => [target.name, verdict(target)])),
    refusal: refusal === undefined ? undefined : `No scripts are run: ${refusal}.`,
  };
}

/** Somebody on this machine who takes connections. */
async function listen(): Promise<AsyncDisposable & { readonly target: CanaryTarget }> {
  const server = createServer((socket) => socket.destroy()).on("error", () => {}); // nobody is said to have been reached
  server.listen(0, LOOPBACK);
  await once(server, "listening");
  return {
    target: { name: "the manager", host: LOOPBACK, port: (server.address() as AddressInfo).port, isRequired: true },
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

interface TestableTarget {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly protocol: string;
}

async function reachedBySandbox(
  runner: ScriptRunner,
  targets: readonly TestableTarget[],
  { signal, timeoutMs = 120_000 }: CheckNetworkOptions,
): Promise<readonly string[]> {
  const input = JSON.stringify({ seconds: REACH_MS / 1_000, targets });
  const job = { id: randomBytes(16).toString("hex"), script: canaryScript, input, timeoutMs: SCRIPT_MS };
  const { stdout, stderr, exitCode } = await runner.run(job, { signal, deadline: performance.now() + timeoutMs });
  if (exitCode !== 0) throw new Error(`the script that tries it failed: ${stderr.slice(-500)}`);
  const reached = JSON.parse(stdout) as readonly string[];
  return targets.map(({ name }) => name).filter((name) => reached.includes(name));
}

function reachedRefusal(names: readonly string[]): string {
  return (
    `a script reaches ${names.join(", ")}. Deny sandboxes the network: in a cluster a NetworkPolicy does so only where the network plugin ` +
    "enforces it, so see whether there is one for the namespace and whether the plugin does"
  );
}
