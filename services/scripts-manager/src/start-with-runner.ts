import { type Bus, silentLogger } from "@rockbot/bus";
import { type CreateRunnerOptions, createRunner, createRunnerPackages } from "./create-runner.ts";
import type { ScriptsManagerConfig } from "./generated/config.ts";
import { type StartScriptsManagerOptions, startScriptsManager } from "./scripts-manager.ts";

export interface StartWithRunnerOptions
  extends Omit<StartScriptsManagerOptions, "runner" | "mustNotReach" | "packages"> {
  readonly env: CreateRunnerOptions["env"];
  /**
   * True to try first what scripts of the local runner reach, besides its own checks.
   * @default true
   */
  readonly triesLocal?: boolean | undefined;
}

/** Scripts with the sandboxes that the settings name. */
export interface RunningScripts extends AsyncDisposable {
  /** Which of their bounds nobody holds here, in words for the operator. */
  readonly notes: readonly string[];
}

/**
 * Starts the service with the runner that its settings name.
 * @throws {ToolError} `unavailable`, in words for the operator, if scripts cannot be run here
 */
export async function startWithRunner(
  bus: Bus,
  config: Readonly<ScriptsManagerConfig>,
  { env, triesLocal = true, log = silentLogger, signal, ...options }: StartWithRunnerOptions,
): Promise<RunningScripts> {
  await using started = new AsyncDisposableStack();
  const packages = started.use(await createRunnerPackages(config, { log, env, signal }));
  const created = started.use(await createRunner(config, { log, env, signal }));
  const mustNotReach = config.runner !== "local" || triesLocal ? created.mustNotReach : undefined;
  started.use(
    await startScriptsManager(bus, config, { ...options, log, signal, runner: created.runner, mustNotReach, packages }),
  );
  const running = started.move();
  return {
    notes: [
      ...created.notHeld.map((words) => `bounds    of scripts: ${words}`),
      ...(config.unsafeLocalScripts
        ? ["UNSAFE    scripts run without a sandbox, for callers whose policy names execute_python_script in full"]
        : []),
    ],
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
