import { silentLogger } from "@rockbot/bus";
import type { Finding } from "@rockbot/process";
import { checkNetwork } from "@rockbot/sandbox";
import { type CreateRunnerOptions, createRunner } from "./create-runner.ts";
import type { ScriptsManagerConfig } from "./generated/config.ts";
import { readPythonFacts } from "./python-facts.ts";

const SCRIPT_MS = 30_000;

/** For `rockbot doctor`: what the sandboxes give that the settings name, found out by a script. */
export async function examine(
  config: Readonly<ScriptsManagerConfig>,
  env: CreateRunnerOptions["env"],
): Promise<readonly Finding[]> {
  const what = "scripts";
  const state = config.runner === "local" ? "off" : "broken"; // the other kinds have been set up
  try {
    const { containerOwner: _, ...unnamed } = config; // the containers of that owner are those of the scripts manager that runs
    await using opened = await createRunner({ ...unnamed, sandboxFloor: 0 }, { log: silentLogger, env });
    const { runner, mustNotReach, notHeld } = opened;
    const { signal } = new AbortController();
    const unknown = { verdicts: {}, refusal: undefined };
    const { verdicts, refusal } =
      mustNotReach === undefined ? unknown : await checkNetwork(runner, mustNotReach, { signal, timeoutMs: SCRIPT_MS });
    if (refusal !== undefined) return [{ what, state, message: `there is no execute_python_script. ${refusal}` }];
    const { version } = await readPythonFacts(runner, { signal, withinMs: SCRIPT_MS });
    if (config.unsafeLocalScripts)
      return [{ what, state: "ok", message: `Python ${version}, WITHOUT a sandbox: UNSAFE_LOCAL_SCRIPTS is set` }];
    const tried = Object.entries(verdicts).map(([target, verdict]) => `; ${target} ${verdict}`);
    return [
      {
        what,
        state: "ok",
        message: `Python ${version} in a sandbox (${runner.kind}), without network${tried.join("")}`,
      },
      ...notHeld.map((message): Finding => ({ what: "script bounds", state: "off", message })),
    ];
  } catch (error) {
    return [
      {
        what,
        state,
        message: `there is no execute_python_script: ${error instanceof Error ? error.message : String(error)}`,
      },
    ];
  }
}
