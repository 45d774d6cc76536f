import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { OwnedMemory } from "../working-memory.ts";
import { entryLine, entryValue, fittingLines, trustOf } from "./entries-text.ts";
import { withMemory } from "./memory-failure.ts";
import type { MemoryToolsOptions } from "./memory-tools-options.ts";
import { wholePrefix } from "./session-keys.ts";

/** `list_working_memory`: the session's keys, as many as the model reads at once. */
export function listWorkingMemory(memory: OwnedMemory, { namespace, pageChars }: MemoryToolsOptions): Tool {
  return defineTool(tools.listWorkingMemory, async ({ namespace: asked, offset = 0 }) => {
    const prefix = wholePrefix(asked, namespace);
    const all = await withMemory(() => memory.list(prefix));
    const rest = all.slice(offset);
    const lines = fittingLines(rest.map(entryLine), pageChars - 200);
    const shown = rest.slice(0, lines.length);
    const next = offset + shown.length;
    const more = next < all.length ? [`[keys ${offset} to ${next} of ${all.length}; go on with offset ${next}]`] : [];
    const head =
      all.length === 0
        ? `Working memory has no keys that begin with "${prefix}".`
        : `Working memory has ${all.length} key(s) that begin with "${prefix}":`;
    return {
      content: [head, ...lines, ...more].join("\n"),
      structured: { total: all.length, entries: shown.map(entryValue) },
      ...trustOf(shown),
    };
  });
}
