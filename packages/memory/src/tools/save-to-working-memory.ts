import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { DEFAULT_TTL_MS } from "../memory-limits.ts";
import type { OwnedMemory } from "../working-memory.ts";
import { tagsIn } from "./entries-text.ts";
import { withMemory } from "./memory-failure.ts";
import type { MemoryToolsOptions } from "./memory-tools-options.ts";
import { keyToSave } from "./session-keys.ts";

/** `save_to_working_memory`: keeps a text in the session's namespace. */
export function saveToWorkingMemory(memory: OwnedMemory, { namespace, hasReadUntrusted }: MemoryToolsOptions): Tool {
  return defineTool(tools.saveToWorkingMemory, async ({ key, data, ttl_minutes, category, tags }, context) => {
    const whole = keyToSave(key, namespace);
    const isUntrusted = context.hasReadUntrusted === true || hasReadUntrusted?.() === true;
    const minutes = ttl_minutes ?? DEFAULT_TTL_MS / 60_000;
    await withMemory(() =>
      memory.set(whole, data, { ttlMs: minutes * 60_000, category, tags: tagsIn(tags), isUntrusted }),
    );
    return {
      content: `Saved ${data.length} characters to working memory under "${whole}" for ${minutes} minute(s).`,
      structured: { key: whole },
    };
  });
}
