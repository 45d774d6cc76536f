import type { Model } from "@rockbot/llm";
import type { WorkingMemory } from "@rockbot/memory";
import type { AgentPlugin } from "../agent/agent-plugin.ts";
import type { RecordStore } from "../records/record-store.ts";
import { isWispTool, type KeptWisp } from "../wisps/saved/kept-wisp.ts";
import { savedWispTool } from "../wisps/saved/saved-wisp-tool.ts";
import { savedWispTools } from "../wisps/saved/saved-wisp-tools.ts";
import { SavedWisps } from "../wisps/saved/saved-wisps.ts";
import { spawnWispsTool } from "../wisps/spawn-wisps.ts";

/** The memory, the bound and the model of wisps. */
export interface WispsOptions {
  /** Where outputs of steps go; it stays its maker's. */
  readonly memory: Pick<WorkingMemory, "of">;
  /** Calls and questions of one call that are out at once. @default 10 */
  readonly maxParallel?: number | undefined;
  /** Where wisps are kept that are tools then; it stays its maker's. @default none is kept */
  readonly store?: RecordStore<KeptWisp> | undefined;
  /** Wisps that one caller may keep. @default 100 */
  readonly maxWispsPerCaller?: number | undefined;
  /** Answers the questions of steps: a cheap one. @default the turn's */
  readonly model?: Model | undefined;
}

/** Saved wisps that a model is given: models get lost among more. It can call the others by name, too. */
const MAX_OFFERED = 32;

/** `spawn_wisps`: pipelines of calls that a model writes as data; and those that are kept, each a tool. A session reaches no more by them than by itself. */
export const wisps = ({ memory, store, maxWispsPerCaller = 100, maxParallel = 10, model }: WispsOptions): AgentPlugin => ({
  name: "wisps",
  async start({ policy }) {
    const saved = store === undefined ? undefined : new SavedWisps(store, policy);
    return {
      takesTurnsTime: true,
      prepare: async (caller) => saved?.refresh(caller),
      tools(scope) {
        const { caller, calls } = scope;
        const parts = { calls, memory: memory.of(caller), maxParallel, model };
        const spawn = spawnWispsTool(parts);
        const withStore =
          saved === undefined ? undefined : { ...parts, caller, saved, policy, maxWispsPerCaller, hasReadUntrusted: () => scope.hasReadUntrusted };
        const ofSaved = withStore === undefined ? [] : savedWispTools(withStore);
        // It only leads to calls, each with a decision; or it keeps what a caller alone can use.
        const mayUse = (name: string): boolean => policy?.current().decide({ caller, tool: name, isReadOnly: true }).isAllowed ?? true;
        return [
          ...[spawn, ...ofSaved].filter(({ definition }) => mayUse(definition.name)),
          ...(withStore === undefined ? [] : withStore.saved.known(caller).map((wisp) => savedWispTool(wisp, withStore))),
        ];
      },
      select(_scope, all) {
        let left = MAX_OFFERED;
        return all.filter(({ tool }) => !isWispTool(tool.name) || left-- > 0);
      },
    };
  },
});
