import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { Workspace } from "../files/workspace.ts";
import type { WorkspaceRoots } from "../files/workspace-roots.ts";
import { changeFile, checkWellFormed } from "./change-file.ts";
import { bytesOfFile } from "./kept-files.ts";

export interface WriteFileOptions {
  readonly roots: WorkspaceRoots;
  readonly maxBytes: number;
}

/** `write_file`: a text, or a file of the caller, as a whole file, new or instead of another. */
export function writeFile({ roots, maxBytes }: WriteFileOptions): Tool {
  return defineTool(tools.writeFile, async ({ path, content, file }, { caller, signal, files }) => {
    const workspace = new Workspace(roots, caller);
    if ((content === undefined) === (file === undefined))
      throw new ToolError(ToolErrorCode.InvalidArguments, "Nothing was written: give either content or file.");
    checkWellFormed({ content: content ?? "" });
    const bytes = file === undefined ? Buffer.from(content ?? "") : await bytesOfFile(files, file, maxBytes);
    return await changeFile(workspace, workspace.path(path), () => bytes, {
      maxBytes,
      isMade: true,
      signal,
    });
  });
}
