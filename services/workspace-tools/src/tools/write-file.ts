import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { Workspace } from "../files/workspace.ts";
import type { WorkspaceRoots } from "../files/workspace-roots.ts";
import { changeFile, checkWellFormed } from "./change-file.ts";

export interface WriteFileOptions {
  readonly roots: WorkspaceRoots;
  readonly maxBytes: number;
}

/** `write_file`: a text as a whole file, new or instead of another. */
export function writeFile({ roots, maxBytes }: WriteFileOptions): Tool {
  return defineTool(tools.writeFile, async ({ path, content }, { caller, signal }) => {
    const workspace = new Workspace(roots, caller);
    checkWellFormed({ content });
    return await changeFile(workspace, workspace.path(path), () => Buffer.from(content), {
      maxBytes,
      isMade: true,
      signal,
    });
  });
}
