import { memoryGuide, memoryTools, type SizeBounds, sizeBounds, sizeLayer, type WorkingMemory } from "@rockbot/memory";
import type { AgentPlugin } from "./agent-plugin.ts";

/** The bounds of single tools' results. */
export interface WorkingMemoryOptions {
  /** Bounds of single tools, by name. */
  readonly sizes?: Readonly<Record<string, SizeBounds>> | undefined;
}

/**
 * The working memory of each session: its five tools, and the layer that keeps large results there. Each agent has it.
 * @param memory stays its maker's; the agent's if left out
 */
export const workingMemory = (memory?: WorkingMemory, { sizes }: WorkingMemoryOptions = {}): AgentPlugin => ({
  name: "working memory",
  memory,
  async start({ memory: own }) {
    return {
      isOfSession: true,
      guides: [[memoryGuide]],
      tools(scope) {
        const { caller, namespace, model } = scope;
        return memoryTools(own.of(caller), {
          namespace,
          pageChars: model.behavior.chunkingThreshold,
          hasReadUntrusted: () => scope.hasReadUntrusted,
        });
      },
      fit: ({ caller, namespace, model }) =>
        sizeLayer({
          memory: own.of(caller),
          namespace,
          threshold: sizeBounds({ threshold: model.behavior.chunkingThreshold, tools: sizes }),
        }),
    };
  },
});
