import { FILE_PIECES } from "../blobs/blob-store.ts";
import { createMemoryBlobStore } from "../blobs/index.ts";
import { FileStore } from "./file-store.ts";
import { createMemoryFileList } from "./memory/memory-file-list.ts";

/** Files for the services and callers of one process, which end with it. */
export function createMemoryFileStore(
  limits: { readonly maxBytesPerOwner?: number } = {},
): { readonly files: FileStore } & AsyncDisposable {
  const pieces = createMemoryBlobStore({ kind: FILE_PIECES, ...limits });
  const list = createMemoryFileList();
  return {
    files: new FileStore({ pieces, list }),
    async [Symbol.asyncDispose]() {
      await Promise.all([pieces, list].map((part) => part[Symbol.asyncDispose]()));
    },
  };
}
