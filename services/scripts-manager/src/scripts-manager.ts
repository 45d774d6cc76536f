import type { AuditLog } from "@rockbot/audit";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import type { ClaimStore } from "@rockbot/claims";
import type { PolicyHolder } from "@rockbot/policy";
import { createMemoryRateStore, type RateStore } from "@rockbot/rates";
import { serveTools } from "@rockbot/tools";
import type { ScriptsManagerConfig } from "./generated/config.ts";
import { readPythonFacts } from "./python-facts.ts";
import type { ScriptRunner } from "./script-runner.ts";
import { scriptToolSet } from "./script-tool-set.ts";
import { scriptRequestForm } from "./tool/script-request-form.ts";
import type { ScriptPackages } from "./tool/script-tool.ts";

/** Its name, and its subscription. */
export const SCRIPTS_MANAGER = "scripts-manager";
const TOPIC = "script.invoke";
/** How long the start waits for a first script, which says what scripts find. */
const FACTS_WITHIN_MS = 15_000;

export interface StartScriptsManagerOptions {
  /** Runs the scripts; not disposed of here. */
  readonly runner: ScriptRunner;
  /** Installs what scripts ask for. @default none can be had */
  readonly packages?: ScriptPackages | undefined;
  /** Gets a line for each call. @default nobody */
  readonly audit?: AuditLog | undefined;
  /** Keeps a call from running twice. @default claims of this process alone */
  readonly claims?: ClaimStore | undefined;
  readonly log?: Logger | undefined;
  /** Who may do what. @default every caller may use every tool but the dangerous ones */
  readonly policy?: PolicyHolder | undefined;
  /** What callers have used up. @default counts of this process alone */
  readonly rates?: RateStore | undefined;
  /** Aborting gives up the start; running calls are ended by disposal. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Serves `execute_python_script` from the bus, to callers of ours and to those of the .NET original. It takes as many calls as there may be
 * sandboxes, so that others stay with the bus for further instances, and `queueLength` more: the bus gives calls in the order of their coming, and a caller that
 * sends many at once would have all of its own before those of others; of the calls that are here, callers have their turns in
 * rotation. Disposal waits for running scripts, at most `shutdownGraceMs`; those of a runner that is resumable are then left to the next instance.
 */
export async function startScriptsManager(
  bus: Bus,
  config: Readonly<ScriptsManagerConfig>,
  { runner, packages, audit, claims, log = silentLogger, policy, rates: shared, signal }: StartScriptsManagerOptions,
): Promise<AsyncDisposable> {
  signal?.throwIfAborted();
  await using started = new AsyncDisposableStack();
  const rates = shared ?? started.use(createMemoryRateStore());
  const python = await readPythonFacts(runner, { signal: signal ?? new AbortController().signal, withinMs: FACTS_WITHIN_MS }).catch((error: unknown) => {
    signal?.throwIfAborted();
    log.warn({ kind: runner.kind, error: String(error) }, "no script could be run at the start: calls are taken all the same");
    return undefined;
  });
  log.info({ kind: runner.kind, ...python }, "scripts are run");
  started.use(
    await serveTools(bus, scriptToolSet(config, { runner, packages, python, rates }), {
      service: SCRIPTS_MANAGER,
      topic: TOPIC,
      forms: [scriptRequestForm],
      concurrency: config.sandboxCeiling,
      waiting: config.queueLength,
      drainMs: config.shutdownGraceMs,
      claims,
      policy,
      rates,
      audit,
      isAuditRequired: config.auditRequired,
      log,
    }),
  );
  return started.move();
}
