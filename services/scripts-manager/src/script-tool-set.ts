import type { RateStore } from "@rockbot/records/rates";
import type { ScriptRunner } from "@rockbot/sandbox";
import type { ToolSet } from "@rockbot/tools";
import type { ScriptTools } from "./calls/script-session.ts";
import type { ScriptsManagerConfig } from "./generated/config.ts";
import type { PythonFacts } from "./python-facts.ts";
import { scriptsGuide } from "./scripts-guide.ts";
import { type ScriptPackages, scriptTool } from "./tool/script-tool.ts";

/** The runner behind the tool, and the bounds of a call. */
export interface ScriptToolSetOptions {
  readonly runner: ScriptRunner;
  /** @default scripts get none */
  readonly packages?: ScriptPackages | undefined;
  /** True if calls may name files, and scripts leave some. */
  readonly hasFiles: boolean;
  /** Lets scripts call tools. @default they cannot */
  readonly scriptTools?: ScriptTools | undefined;
  /** What scripts find, for the guide. @default it says less */
  readonly python?: PythonFacts | undefined;
  /** Counts the seconds that callers' scripts run, where the policy limits them. */
  readonly rates: RateStore;
}

/**
 * The tool with its guide. A process of its own serves it over the bus, or another process that runs scripts itself.
 */
export function scriptToolSet(
  config: Readonly<ScriptsManagerConfig>,
  { runner, packages, hasFiles, scriptTools, python, rates }: ScriptToolSetOptions,
): ToolSet {
  return {
    tools: [
      scriptTool({
        runner,
        packages,
        scriptTools,
        rates,
        bounds: config,
        isDangerous: config.unsafeLocalScripts,
      }),
    ],
    guides: [
      scriptsGuide(config, {
        hasPackages: packages !== undefined,
        hasFiles,
        hasTools: scriptTools !== undefined,
        python,
      }),
    ],
  };
}
