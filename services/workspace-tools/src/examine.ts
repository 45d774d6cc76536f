import { silentLogger } from "@rockbot/bus";
import { createPolicy, defaultPolicySource, holdPolicy } from "@rockbot/policy";
import { workspaceRoots } from "./files/workspace-roots.ts";
import type { WorkspaceToolsConfig } from "./generated/config.ts";
import { workspaceToolSet } from "./workspace-tool-set.ts";

/** For `rockbot doctor`: whether the roots can be opened, and which tools this machine lacks something for. */
export async function examine(
  config: Readonly<WorkspaceToolsConfig>,
  env: Readonly<Record<string, string | undefined>>,
) {
  const what = "workspace";
  if (config.workspaceRoots === undefined) {
    const message = "there are no read_file, write_file and bash: WORKSPACE_ROOTS names no folder";
    return [{ what, state: "off", message } as const];
  }
  try {
    const roots = await workspaceRoots(config, holdPolicy(createPolicy(defaultPolicySource())));
    const words = roots.all.map(
      ({ name, folder, isWritable }) => `${name} is ${folder}${isWritable ? ", writable" : ""}`,
    );
    await using set = await workspaceToolSet(config, { roots, log: silentLogger, path: env["PATH"] });
    return [
      { what, state: "ok", message: words.join("; ") } as const,
      ...set.off.map(({ tool, reason }) => ({ what: tool, state: "off", message: `it is off. ${reason}` }) as const),
    ];
  } catch (error) {
    return [{ what, state: "broken", message: error instanceof Error ? error.message : String(error) } as const];
  }
}
