import { tools } from "@rockbot/contracts";
import type { Model } from "@rockbot/llm";
import type { WorkingMemory } from "@rockbot/memory";
import type { AgentPlugin } from "../agent/agent-plugin.ts";
import { spawnWispsTool } from "../wisps/spawn-wisps.ts";

/** The memory, the bound and the model of wisps. */
export interface WispsOptions {
  /** Where outputs of steps go; it stays its maker's. */
  readonly memory: Pick<WorkingMemory, "of">;
  /** Calls and questions of one call that are out at once. @default 10 */
  readonly maxParallel?: number | undefined;
  /** Answers the questions of steps: a cheap one. @default the turn's */
  readonly model?: Model | undefined;
}

/** `spawn_wisps`: pipelines of calls that a model writes as data. A session reaches no more by them than by itself. */
export const wisps = ({ memory, maxParallel = 10, model }: WispsOptions): AgentPlugin => ({
  name: "wisps",
  async start({ policy }) {
    return {
      takesTurnsTime: true,
      tools({ caller, calls }) {
        const isAllowed = policy?.current().decide({ caller, tool: tools.spawnWisps.name, isReadOnly: true }).isAllowed ?? true; // it only leads to calls, each with a decision
        return isAllowed ? [spawnWispsTool({ calls, memory: memory.of(caller), maxParallel, model })] : [];
      },
    };
  },
});
