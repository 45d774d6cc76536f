import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createMemoryBus } from "@rockbot/bus";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { createMemoryFileStore } from "@rockbot/records/files";
import { temporaryFolder } from "@rockbot/testing";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { configSchema } from "./generated/config.ts";
import { startWorkspaceTools } from "./workspace-tools.ts";

/** A user without rights, to whom roots belong where tests run as root. */
export const OWNER = 65_534;

const ALL = "read_file, write_file, edit_file, list_files, search_files, bash";

/** A policy that lets every caller use all tools of the service. */
export const openPolicyText = `everyone: { allow: [${ALL}] }\n`;

export interface TestWorkspaceOptions {
  /** Settings of the roots beside their folders, by name. @default one root `work`, writable */
  readonly roots?: Readonly<Record<string, { readonly writable?: boolean; readonly perCaller?: boolean }>>;
  readonly policy?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts the whole service in memory for tests, over folders of its own. Configured by the environment, as in earnest.
 */
export async function startTestWorkspace({
  roots = { work: { writable: true } },
  policy = openPolicyText,
  env = {},
}: TestWorkspaceOptions = {}) {
  await using started = new AsyncDisposableStack();
  const { path } = started.use(temporaryFolder());
  const folder = (name: string): string => join(path, name);
  for (const name of Object.keys(roots)) {
    mkdirSync(folder(name));
    if (process.getuid?.() === 0) chownSync(folder(name), OWNER, OWNER);
  }
  const settings = Object.fromEntries(
    Object.entries(roots).map(([name, rest]) => [name, { folder: folder(name), ...rest }]),
  );
  const config = loadConfig(configSchema, { env: { WORKSPACE_ROOTS: JSON.stringify(settings), ...env } });
  const bus = started.use(createMemoryBus());
  const held = holdPolicy(createPolicy(await readPolicy(policy, "policy.yaml")));
  const { files } = started.use(createMemoryFileStore());
  const running = started.use(
    await startWorkspaceTools(bus, config, {
      service: "workspace-tools",
      topic: "tool.invoke.workspace",
      policy: held,
      files,
      env: process.env,
    }),
  );
  const callerOf = async (agent: string): Promise<ToolCaller> => {
    const caller = open.use(await createToolCaller(bus, { agent, policy: held, files }));
    await caller.discovered();
    return caller;
  };
  const open = started.move();
  const caller = await callerOf("tester");
  return {
    /** Beside the roots, which no tool may reach. */
    outside: path,
    folder,
    files,
    running,
    caller,
    callerOf,
    /** Calls a tool as the caller `tester`. */
    call: (tool: string, input: Record<string, unknown>) => caller.call(tool, input),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
