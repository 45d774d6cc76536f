import type { AgentPlugin, RecordStore, TurnScope } from "@rockbot/agent/plugin";
import { tools } from "@rockbot/contracts";
import type { Model } from "@rockbot/llm";
import type { WorkingMemory } from "@rockbot/memory";
import type { Tool } from "@rockbot/tools";
import { isWispTool, type KeptWisp } from "./pipeline/kept-wisp.ts";
import type { WispParts } from "./run/run-wisps.ts";
import { savedWispTool } from "./saved/saved-wisp-tool.ts";
import { savedWispTools } from "./saved/saved-wisp-tools.ts";
import { SavedWisps } from "./saved/saved-wisps.ts";
import { spawnWispsTool } from "./spawn-wisps.ts";
import { wispsGuide } from "./wisps-guide.ts";

/** The memory, the bound and the model of wisps. */
export interface WispsOptions {
  /** Where outputs of steps go; it stays its maker's. @default the agent's */
  readonly memory?: Pick<WorkingMemory, "of"> | undefined;
  /** Calls and questions of one call that are out at once. @default 10 */
  readonly maxParallel?: number | undefined;
  /** Where wisps are kept that are tools then; it stays its maker's. @default none is kept */
  readonly store?: RecordStore<KeptWisp> | undefined;
  /** Wisps that one caller may keep. @default 100 */
  readonly maxWispsPerCaller?: number | undefined;
  /** Answers the questions of steps: a cheap one. @default the turn's */
  readonly model?: Model | undefined;
}

/** Saved wisps that are tools of a session; and those of them that a model is given, as models get lost among more. */
const MAX_CALLABLE = 256;
const MAX_OFFERED = 32;

/**
 * `spawn_wisps`: pipelines of calls that a model writes as data; and those that are kept, each a tool. A session
 * reaches no more by them than by itself.
 */
export const wisps = ({
  memory,
  store,
  maxWispsPerCaller = 100,
  maxParallel = 10,
  model,
}: WispsOptions = {}): AgentPlugin => ({
  name: "wisps",
  async start({ policy, memory: ofAgent }) {
    const saved = store === undefined ? undefined : new SavedWisps(store, policy);
    // They only lead to calls, each with a decision; or keep what their caller alone can use.
    const mayUse = (caller: string, { definition }: Tool): boolean =>
      policy?.current().decide({ caller, tool: definition.name, isReadOnly: true }).isAllowed ?? true;
    const partsOf = ({ caller, calls }: TurnScope): WispParts => ({
      calls,
      memory: (memory ?? ofAgent).of(caller),
      maxParallel,
      model,
    });
    return {
      takesTurnsTime: true,
      guides: [[wispsGuide, tools.spawnWisps.name]],
      tools: (scope) => [spawnWispsTool(partsOf(scope))].filter((tool) => mayUse(scope.caller, tool)),
      async readTools(caller) {
        if (saved === undefined) return () => [];
        const visible = (await saved.visibleTo(caller)).slice(0, MAX_CALLABLE);
        return (scope) => {
          const parts = {
            ...partsOf(scope),
            caller,
            saved,
            policy,
            maxWispsPerCaller,
            hasReadUntrusted: () => scope.hasReadUntrusted,
          };
          return [...savedWispTools(parts), ...visible.map((wisp) => savedWispTool(wisp, parts))].filter((tool) =>
            mayUse(caller, tool),
          );
        };
      },
      select(_scope, all) {
        let left = MAX_OFFERED;
        return all.filter(({ tool }) => !isWispTool(tool.name) || left-- > 0);
      },
    };
  },
});
