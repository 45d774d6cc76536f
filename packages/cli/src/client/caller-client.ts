import { listTools, type ToolCaller } from "@rockbot/tools";
import type { ToolClient } from "./tool-client.ts";

/** A client over a caller in this process; owns what `parts` holds. */
export function callerClient(where: string, caller: ToolCaller, parts: AsyncDisposable): ToolClient {
  return {
    where,
    async listTools() {
      await caller.discovered();
      return listTools(caller.tools.getTools());
    },
    listMissing: async () => (await caller.discovered()).missing,
    getGuides: () => caller.getGuides(),
    onChange: (listener) => caller.tools.onChange(listener),
    call: (name, args, options) => caller.call(name, args, options),
    [Symbol.asyncDispose]: async () => await parts[Symbol.asyncDispose](),
  };
}
