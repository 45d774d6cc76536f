// Working memory: texts that sessions keep for a while.

export { createWorkingMemory } from "./memory/create-working-memory.ts";
export { MemoryChangedError } from "./memory-changed-error.ts";
export { MemoryFullError } from "./memory-full-error.ts";
export type { MemoryLimits } from "./memory-limits.ts";
export { familyNamespace, runsNamespace, sessionNamespace } from "./session-namespace.ts";
export type {
  FindQuery,
  FoundPlace,
  KeepOptions,
  MemoryEntry,
  MemoryEntryInfo,
  MemoryFindings,
  MemoryHit,
  MemoryPart,
  NewEntry,
  OwnedMemory,
  SearchQuery,
  SetOptions,
  WorkingMemory,
} from "./working-memory.ts";

// The tools of a session for its memory.

export { withMemory } from "./tools/memory-failure.ts";
export { memoryGuide } from "./tools/memory-guide.ts";
export { memoryTools } from "./tools/memory-tools.ts";
export type { MemoryToolsOptions } from "./tools/memory-tools-options.ts";

// Files of callers, for models.

export { fileNotes } from "./files/file-notes.ts";
export { type ReadKeptFileOptions, readKeptFile } from "./files/read-kept-file.ts";

// Results that are too large for a model.

export { type Chunk, type ChunkOptions, chunkContent } from "./chunks/chunk-content.ts";
export { outlineOf } from "./chunks/outline-of.ts";
export { keepWhole, type WholeResult } from "./size/keep-whole.ts";
export { type SizeBounds, type SizeBoundsOf, type SizeBoundsOptions, sizeBounds } from "./size/size-bounds.ts";
export { type SizeLayerOptions, sizeLayer, toolOutputIn } from "./size/size-layer.ts";

// What a family of sessions shares.

export { type WhiteboardToolsOptions, whiteboardTools } from "./whiteboard/whiteboard-tools.ts";
