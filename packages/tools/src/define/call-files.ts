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
