import type { FileInfo } from "./file-facts.ts";

/** A file as its caller has it. Its key opens it. */
export interface ListedFile extends FileInfo {
  readonly key: string;
}

/** Which files each caller has. Processes that call for callers read it; services only add. */
export interface FileList extends AsyncDisposable {
  /** @throws {StoreUnavailableError} from each, if the store does not answer in time, refuses, or is closed */
  add(owner: string, file: ListedFile): Promise<void>;
  find(owner: string, handle: string): Promise<ListedFile | undefined>;
  /** The files that have not expired, the newest first. */
  list(owner: string): Promise<readonly ListedFile[]>;
  remove(owner: string, handle: string): Promise<void>;
}

/** The newest first. */
export const newestFirst = (files: readonly ListedFile[]): ListedFile[] =>
  [...files].sort((one, other) => other.expiresAt - one.expiresAt);
