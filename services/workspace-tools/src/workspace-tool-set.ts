import type { Logger } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import { createPageConverter } from "@rockbot/page";
import type { OwnedToolSet } from "@rockbot/process/tool-set";
import { isThere, type WorkspaceRoots } from "./files/workspace-roots.ts";
import type { WorkspaceToolsConfig } from "./generated/config.ts";
import { findRipgrep } from "./programs/find-ripgrep.ts";
import { Programs } from "./programs/programs.ts";
import { bash } from "./tools/bash.ts";
import { editFile } from "./tools/edit-file.ts";
import { listFiles } from "./tools/list-files.ts";
import { readFile } from "./tools/read-file.ts";
import { searchFiles } from "./tools/search-files.ts";
import { writeFile } from "./tools/write-file.ts";
import { workspaceGuide } from "./workspace-guide.ts";

/** Tools with what they hold open: processes and sandboxes. */
export interface WorkspaceToolSet extends OwnedToolSet {
  /** What an operator should know of them. */
  readonly notes: readonly string[];
}

export interface WorkspaceToolSetOptions {
  readonly roots: WorkspaceRoots;
  readonly log: Logger;
  /** Where programs of this machine are looked for, as the variable PATH has it. */
  readonly path: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The tools that work with these roots on this machine: without sandboxes, neither commands nor searches.
 * @throws the signal's reason
 */
export async function workspaceToolSet(
  config: Readonly<WorkspaceToolsConfig>,
  { roots, log, path, signal }: WorkspaceToolSetOptions,
): Promise<WorkspaceToolSet> {
  await using open = new AsyncDisposableStack();
  const maxBytes = config.maxFileBytes;
  const converter = open.use(createPageConverter({ timeoutMs: config.convertTimeoutMs, maxLength: 2 * maxBytes }));
  const programs = await openPrograms(config, { log, path, signal });
  if (programs instanceof Programs) open.use(programs);
  const noSandbox = programs instanceof Programs ? undefined : programs.message;
  const ripgrep = await findRipgrep();
  const noShell = noSandbox ?? ((await isThere("/bin/bash")) ? undefined : "There is no /bin/bash: install it.");
  const noSearch =
    noSandbox ??
    (ripgrep === undefined ? "The package @vscode/ripgrep is not installed beside this service." : undefined);
  const noWriting = roots.all.some(({ isWritable }) => isWritable)
    ? undefined
    : 'No root is writable: set "writable" of one in WORKSPACE_ROOTS.';
  const opened = open.move();
  return {
    tools: [
      readFile({ roots, converter, maxBytes }),
      listFiles({ roots }),
      ...(noWriting === undefined ? [writeFile({ roots, maxBytes }), editFile({ roots, maxBytes })] : []),
      ...(programs instanceof Programs && ripgrep !== undefined ? [searchFiles({ roots, programs, ripgrep })] : []),
      ...(programs instanceof Programs && noShell === undefined
        ? [bash({ roots, programs, maxTimeoutSeconds: config.maxTimeoutSeconds, keepBytes: config.keepOutputBytes })]
        : []),
    ],
    guides: [
      workspaceGuide(config, {
        canWrite: noWriting === undefined,
        canSearch: noSearch === undefined,
        canRun: noShell === undefined,
      }),
    ],
    off: [...off(noWriting, "write_file", "edit_file"), ...off(noSearch, "search_files"), ...off(noShell, "bash")],
    notes: programs instanceof Programs ? programs.notHeld.map((words) => `bounds    of commands: ${words}`) : [],
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const off = (reason: string | undefined, ...names: string[]): WorkspaceToolSet["off"] =>
  reason === undefined ? [] : names.map((tool) => ({ tool, reason }));

async function openPrograms(
  config: Readonly<WorkspaceToolsConfig>,
  options: Omit<WorkspaceToolSetOptions, "roots">,
): Promise<Programs | ToolError> {
  try {
    return await Programs.open(config, options);
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
}
