import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { OwnedMemory } from "../working-memory.ts";
import { withMemory } from "./memory-failure.ts";
import type { MemoryToolsOptions } from "./memory-tools-options.ts";
import { wholeKey } from "./session-keys.ts";

/** `delete_from_working_memory`: deletes one entry of the session. */
export function deleteFromWorkingMemory(memory: OwnedMemory, { namespace }: MemoryToolsOptions): Tool {
  return defineTool(tools.deleteFromWorkingMemory, async ({ key }) => {
    const whole = wholeKey(key, namespace);
    const wasThere = await withMemory(() => memory.delete(whole));
    return {
      content: `Nothing is kept under "${whole}"${wasThere ? " any more: it was deleted" : ", and nothing was"}.`,
      structured: { key: whole, was_there: wasThere },
    };
  });
}
