import { ConfigError } from "@rockbot/contracts";
import type { Finding } from "@rockbot/process";
import { readVariable } from "@rockbot/process/config";
import type { A2AConfig } from "./generated/config.ts";
import { readAgentsFile } from "./read-agents-file.ts";

/** For `rockbot doctor`: whether there is a file of agents, and which credentials of theirs are missing. */
export function examine(
  { a2aAgentsFile }: Readonly<A2AConfig>,
  env: Readonly<Record<string, string | undefined>>,
): readonly Finding[] {
  const what = "A2A_AGENTS_FILE";
  if (a2aAgentsFile === undefined)
    return [
      {
        what,
        state: "off",
        message: "not set, so there are no agents of other makers. It names a file such as well-known-agents.json",
      },
    ];
  try {
    const agents = readAgentsFile(a2aAgentsFile);
    return [
      { what, state: "ok", message: `${agents.length} agents` },
      ...agents.flatMap(({ name, credential }) =>
        credential === undefined || readVariable(credential.env, env) !== undefined
          ? []
          : [
              {
                what: credential.env,
                state: "off" as const,
                message: `not set, so the agent "${name}" cannot be called`,
              },
            ],
      ),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ what, state: "broken", message: error.message }];
  }
}
