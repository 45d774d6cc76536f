import { type FileList, type ListedFile, newestFirst } from "../file-list.ts";

/** A list for the services and callers of one process, which ends with it. What may be listed is bounded by what may be kept. */
export function createMemoryFileList(): FileList {
  const byOwner = new Map<string, Map<string, ListedFile>>();
  const of = (owner: string): Map<string, ListedFile> => {
    const files = byOwner.get(owner) ?? new Map<string, ListedFile>();
    for (const [handle, { expiresAt }] of files) if (expiresAt <= Date.now()) files.delete(handle);
    return files;
  };
  return {
    async add(owner, file) {
      for (const other of byOwner.keys()) if (of(other).size === 0) byOwner.delete(other);
      byOwner.set(owner, of(owner).set(file.handle, file));
    },
    find: async (owner, handle) => of(owner).get(handle),
    list: async (owner) => newestFirst([...of(owner).values()]),
    async remove(owner, handle) {
      const files = of(owner);
      files.delete(handle);
      if (files.size === 0) byOwner.delete(owner);
    },
    async [Symbol.asyncDispose]() {
      byOwner.clear();
    },
  };
}
