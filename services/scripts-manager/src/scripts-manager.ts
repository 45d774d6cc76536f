import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { JournalStore } from "@rockbot/records/journal";
import type { LeaseStore } from "@rockbot/records/leases";
import { createMemoryRateStore } from "@rockbot/records/rates";
import { createMemoryReplayStore, type ReplayStore } from "@rockbot/records/replays";
import { type CanaryTarget, checkNetwork, type ScriptRunner } from "@rockbot/sandbox";
import { createToolCaller, type StartServiceOptions, serveTools, type ToolCaller } from "@rockbot/tools";
import { ScriptTools } from "./calls/script-session.ts";
import type { ScriptsManagerConfig } from "./generated/config.ts";
import { readPythonFacts } from "./python-facts.ts";
import { scriptToolSet } from "./script-tool-set.ts";
import { ScriptSessions } from "./sessions/script-sessions.ts";
import type { ScriptPackages } from "./tool/script-input.ts";
import { scriptRequestForm } from "./tool/script-request-form.ts";

/** How long the start waits for a first script, which says what scripts find. */
const FACTS_WITHIN_MS = 15_000;

/** The parts of the process that the service uses. */
export interface StartScriptsManagerOptions extends StartServiceOptions {
  /** Runs the scripts; not disposed of here. */
  readonly runner: ScriptRunner;
  /** Installs what scripts ask for. @default scripts get none */
  readonly packages?: ScriptPackages | undefined;
  /**
   * What scripts must not reach. It is tried at the start, and if a script reaches any of it nothing is served.
   * @default nothing is tried
   */
  readonly mustNotReach?: readonly CanaryTarget[] | undefined;
  /** Where the calls of scripts are kept until their scripts have ended. @default this process */
  readonly replays?: ReplayStore | undefined;
  /** Tells the processes that share it which one has a session. @default each knows its own alone */
  readonly leases?: LeaseStore | undefined;
  /** Where the journal of these calls outlives this process. @default nowhere */
  readonly journals?: JournalStore | undefined;
}

/**
 * Serves `execute_python_script` from the bus, to our callers and to those of the .NET original. It takes as many calls
 * as there may be sandboxes, so that the rest stays on the bus for other instances. It takes `queueLength` more,
 * because the bus delivers calls in the order of their arrival. Otherwise a caller that sends many calls at once would
 * have all of them before those of others. Callers have their turns in rotation. Disposal
 * waits for running scripts, at most `shutdownGraceMs`. It then leaves those of a resumable runner to the next
 * instance.
 * @throws {ToolError} `unavailable`, if scripts reach what they must not, or it cannot be tried
 */
export async function startScriptsManager(
  bus: Bus,
  config: Readonly<ScriptsManagerConfig>,
  {
    runner,
    packages,
    mustNotReach,
    replays,
    leases,
    journals,
    service,
    policy,
    blobs,
    log = silentLogger,
    rates: shared,
    signal,
    ...options
  }: StartScriptsManagerOptions,
): Promise<AsyncDisposable> {
  signal?.throwIfAborted();
  await using started = new AsyncDisposableStack();
  const rates = shared ?? started.use(createMemoryRateStore());
  if (mustNotReach !== undefined) await refuseReach(runner, mustNotReach, { log, signal });
  const python = await readPythonFacts(runner, {
    signal: signal ?? new AbortController().signal,
    withinMs: FACTS_WITHIN_MS,
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    log.warn(
      { kind: runner.kind, error: String(error) },
      "could not run a script at the start, and accepts calls all the same",
    );
    return undefined;
  });
  log.info({ kind: runner.kind, python: python?.version }, "ready to run scripts");
  const hasFiles = options.files !== undefined && runner.carriesFiles === true;
  const scriptTools =
    policy === undefined
      ? undefined
      : new ScriptTools({
          caller: openedOnce(started, () =>
            createToolCaller(bus, {
              agent: service,
              results: journals === undefined ? "copy" : "result",
              journals,
              policy,
              blobs,
              log,
            }),
          ),
          store: replays ?? started.use(createMemoryReplayStore()),
          cells: started.use(createMemoryReplayStore()),
          policy,
          maxCalls: config.maxToolCalls,
          maxAnswerBytes: config.maxToolAnswersMiB * 1024 ** 2,
        });
  const sessions =
    runner.lasts === true && config.maxSessions > 0
      ? started.use(new ScriptSessions(config, { leases, log }))
      : undefined;
  started.use(
    await serveTools(bus, scriptToolSet(config, { runner, packages, hasFiles, scriptTools, sessions, python, rates }), {
      ...options,
      service,
      policy,
      blobs,
      forms: [scriptRequestForm],
      concurrency: config.sandboxCeiling,
      waiting: config.queueLength,
      drainMs: config.shutdownGraceMs,
      rates,
      isAuditRequired: config.auditRequired,
      log,
    }),
  );
  return started.move();
}

async function refuseReach(
  runner: ScriptRunner,
  targets: readonly CanaryTarget[],
  { log, signal = new AbortController().signal }: { readonly log: Logger; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { verdicts, refusal } = await checkNetwork(runner, targets, { signal });
  log.info({ kind: runner.kind, verdicts }, "tried which addresses scripts reach");
  if (refusal !== undefined)
    throw new ToolError(ToolErrorCode.Unavailable, refusal, { details: { reason: "network", verdicts } });
}

/** Opens the caller with the first script that may call a tool: before, this process has no rights to be one. */
function openedOnce(started: AsyncDisposableStack, open: () => Promise<ToolCaller>): () => Promise<ToolCaller> {
  let opening: Promise<ToolCaller> | undefined;
  started.defer(async () => (await opening?.catch(() => undefined))?.[Symbol.asyncDispose]());
  return () => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
}
