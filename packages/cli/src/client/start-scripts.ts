import { type Bus, silentLogger } from "@rockbot/bus";
import { ToolError, tools } from "@rockbot/contracts";
import {
  type CreateRunnerOptions,
  createRunner,
  createRunnerPackages,
  type ScriptsManagerConfig,
  type StartScriptsManagerOptions,
  startScriptsManager,
} from "@rockbot/scripts-manager";

/** Scripts in this process. */
export interface LocalScripts extends AsyncDisposable {
  /** The tool, if it is not offered, and what is missing. */
  readonly off: { readonly tool: string; readonly reason: string } | undefined;
  /** Which of their bounds the platform does not hold, in words for the operator. */
  readonly notHeld: readonly string[];
}

export interface StartScriptsOptions extends Omit<StartScriptsManagerOptions, "runner" | "mustNotReach" | "packages"> {
  readonly env: CreateRunnerOptions["env"];
  /** Whether it is tried first what scripts of the local runner reach, besides what that looks for itself. @default true */
  readonly triesLocal?: boolean | undefined;
}

/** Serves scripts, if they can be run here; other services do not depend on that. */
export async function startScripts(
  bus: Bus,
  config: Readonly<ScriptsManagerConfig>,
  { env, triesLocal = true, log = silentLogger, ...options }: StartScriptsOptions,
): Promise<LocalScripts> {
  await using started = new AsyncDisposableStack();
  let notHeld: readonly string[];
  try {
    const packages = started.use(await createRunnerPackages(config, { log, env, signal: options.signal }));
    const created = started.use(await createRunner(config, { log, env, signal: options.signal }));
    const { runner } = created;
    const mustNotReach = config.runner !== "local" || triesLocal ? created.mustNotReach : undefined;
    ({ notHeld } = created);
    started.use(await startScriptsManager(bus, config, { ...options, log, runner, mustNotReach, packages }));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { off: { tool: tools.executePythonScript.name, reason: error.message }, notHeld: [], async [Symbol.asyncDispose]() {} };
  }
  const running = started.move();
  return { off: undefined, notHeld, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
