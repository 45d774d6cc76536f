// Files of callers, which calls name by handles. What is shared in Redis comes from ../shared.

export { createMemoryFileStore } from "./create-memory-file-store.ts";
export {
  checkFileName,
  type FileFacts,
  type FileInfo,
  fileNameOfUrl,
  HANDLE_PATTERN,
  handlesIn,
  isHandle,
  isTextType,
  MAX_FILE_BYTES,
  MAX_FILES_PER_CALL,
  nearestFileName,
  shownFile,
} from "./file-facts.ts";
export { FileStore, type NewFile, noSuchFile, type OpenFile } from "./file-store.ts";
