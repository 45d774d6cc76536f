import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { FileInfo, NewFile, OpenFile } from "@rockbot/records/files";

/** The files of one call, for the code of a tool: those that its arguments name, and those that it leaves. */
export interface CallFiles {
  /**
   * Opens a file that the call's arguments name.
   * @throws {ToolError} `invalid_arguments` if its caller has no such file, `unavailable`
   */
  open(handle: string): Promise<OpenFile>;
  /**
   * Leaves a file for the call's caller. It is untrusted if the tool says so, or if the call is.
   * @throws {ToolError} see FileStore.put
   */
  leave(file: Omit<NewFile, "isUntrusted"> & { readonly isUntrusted?: boolean }): Promise<FileInfo>;
}

/** The files of a call, for a tool that cannot do without. @throws {ToolError} where there is no store of files */
export function filesOf({ files }: { readonly files?: CallFiles | undefined }): CallFiles {
  if (files !== undefined) return files;
  throw new ToolError(
    ToolErrorCode.Denied,
    "Files cannot be kept or named here: this service has no store of files. Do without them.",
    { details: { reason: "no_files" } },
  );
}
