import type { Tool } from "@rockbot/tools";
import type { OwnedMemory } from "../working-memory.ts";
import { deleteFromWorkingMemory } from "./delete-from-working-memory.ts";
import { getFromWorkingMemory } from "./get-from-working-memory.ts";
import { listWorkingMemory } from "./list-working-memory.ts";
import type { MemoryToolsOptions } from "./memory-tools-options.ts";
import { saveToWorkingMemory } from "./save-to-working-memory.ts";
import { searchWorkingMemory } from "./search-working-memory.ts";

/** The five tools of one session for its working memory. Each is local to the agent. */
export function memoryTools(memory: OwnedMemory, options: MemoryToolsOptions): readonly Tool[] {
  const bounded = { ...options, pageChars: Math.max(1_000, options.pageChars) };
  return [
    getFromWorkingMemory(memory, bounded),
    saveToWorkingMemory(memory, bounded),
    listWorkingMemory(memory, bounded),
    searchWorkingMemory(memory, bounded),
    deleteFromWorkingMemory(memory, bounded),
  ];
}
