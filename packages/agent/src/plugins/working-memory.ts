import { createWorkingMemory, memoryTools, type WorkingMemory } from "@rockbot/memory";
import type { AgentPlugin } from "../agent/agent-plugin.ts";

/**
 * The working memory of each session: its five tools, for notes. Each agent has it.
 * @param memory stays its maker's; one in this process if left out
 */
export const workingMemory = (memory?: WorkingMemory): AgentPlugin => ({
  name: "working memory",
  async start() {
    const own = memory ?? createWorkingMemory();
    return {
      tools(scope) {
        const { caller, namespace, model } = scope;
        return memoryTools(own.of(caller), { namespace, pageChars: model.behavior.chunkingThreshold, hasReadUntrusted: () => scope.hasReadUntrusted });
      },
      async [Symbol.asyncDispose]() {
        if (own !== memory) await own[Symbol.asyncDispose]();
      },
    };
  },
});
