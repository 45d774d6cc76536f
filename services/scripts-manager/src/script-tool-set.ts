import type { RateStore } from "@rockbot/records/rates";
import type { ScriptRunner } from "@rockbot/sandbox";
import type { ToolSet } from "@rockbot/tools";
import type { ScriptTools } from "./calls/script-session.ts";
import type { ScriptsManagerConfig } from "./generated/config.ts";
import type { PythonFacts } from "./python-facts.ts";
import { scriptTool } from "./script-tool.ts";
import { scriptsGuide } from "./scripts-guide.ts";
import type { ScriptSessions } from "./sessions/script-sessions.ts";
import { sessionTools } from "./sessions/session-tools.ts";
import type { ScriptPackages } from "./tool/script-input.ts";

/** The runner behind the tool, and the bounds of a call. */
export interface ScriptToolSetOptions {
  readonly runner: ScriptRunner;
  /** @default scripts get none */
  readonly packages?: ScriptPackages | undefined;
  /** True if calls may name files, and scripts leave some. */
  readonly hasFiles: boolean;
  /** Lets scripts call tools. @default they cannot */
  readonly scriptTools?: ScriptTools | undefined;
  /** Keeps sessions of scripts. @default they can have none */
  readonly sessions?: ScriptSessions | undefined;
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
  { runner, packages, hasFiles, scriptTools, sessions, python, rates }: ScriptToolSetOptions,
): ToolSet {
  return {
    tools: [
      scriptTool({
        runner,
        packages,
        scriptTools,
        sessions,
        rates,
        bounds: config,
        isDangerous: config.unsafeLocalScripts,
      }),
      ...(sessions === undefined ? [] : sessionTools(sessions)),
    ],
    guides: [
      scriptsGuide(config, {
        hasPackages: packages !== undefined,
        hasFiles,
        hasTools: scriptTools !== undefined,
        hasSessions: sessions !== undefined,
        python,
      }),
    ],
  };
}
