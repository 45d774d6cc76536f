import { type Bus, silentLogger } from "@rockbot/bus";
import { ToolError, tools } from "@rockbot/contracts";
import { createRunner, createRunnerPackages, type ScriptsManagerConfig, type StartScriptsManagerOptions, startScriptsManager } from "@rockbot/scripts-manager";

/** Scripts in this process. */
export interface LocalScripts extends AsyncDisposable {
  /** The tool, if it is not offered, and what is missing. */
  readonly off: { readonly tool: string; readonly reason: string } | undefined;
}

/** Serves scripts, if they can be run here; other services do not depend on that. */
export async function startScripts(
  bus: Bus,
  config: Readonly<ScriptsManagerConfig>,
  { env, log = silentLogger, ...options }: Omit<StartScriptsManagerOptions, "runner"> & { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<LocalScripts> {
  await using started = new AsyncDisposableStack();
  try {
    const packages = started.use(await createRunnerPackages(config, { log, env, signal: options.signal }));
    const { runner } = started.use(await createRunner(config, { log, env, signal: options.signal }));
    started.use(await startScriptsManager(bus, config, { ...options, log, runner, packages }));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { off: { tool: tools.executePythonScript.name, reason: error.message }, async [Symbol.asyncDispose]() {} };
  }
  const running = started.move();
  return { off: undefined, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
