import { mayCallAgent } from "@rockbot/agent";
import { startLoop } from "@rockbot/base";
import { tools } from "@rockbot/contracts";
import { ANY, type PolicyHolder } from "@rockbot/policy";
import { AdvisedTools, advised, type Tool, type ToolCaller } from "@rockbot/tools";
import type { RobotDesk } from "./robot-desk.ts";
import { robotCreate } from "./tools/robot-create.ts";
import { robotDelete } from "./tools/robot-delete.ts";
import { robotGet } from "./tools/robot-get.ts";
import { robotList } from "./tools/robot-list.ts";
import { robotSwitch } from "./tools/robot-switch.ts";
import { robotUpdate } from "./tools/robot-update.ts";

export interface RobotToolsOptions extends Pick<RobotDesk, "robots" | "wisps" | "models" | "maxRobotsPerCaller"> {
  readonly caller: Pick<ToolCaller, "tools" | "toolsOf">;
  readonly policy: PolicyHolder | undefined;
  /** Tools that the service has besides. */
  readonly others: readonly Tool[];
}

/** Names and globs that are announced at most. */
const MAX_ADVICE = 1_000;
/** How often the service looks which tools there are. */
const LOOK_MS = 30_000;

/**
 * The tools of the service, those for robots with the names of tools in their schemas: names that every caller may
 * know, and globs of them.
 */
export class RobotTools implements AsyncDisposable {
  readonly provider: AdvisedTools<readonly string[]>;
  readonly #loop: AsyncDisposable;

  constructor({ caller, policy, others, ...parts }: RobotToolsOptions) {
    const desk: RobotDesk = {
      ...parts,
      toolsOf: (by) => caller.toolsOf(by).map(({ name }) => name),
      mayCall: (by, robot) => mayCallAgent(policy, by, robot),
      now: Date.now,
    };
    const names = (): readonly string[] => {
      const current = policy?.current();
      return withGlobs(
        caller.tools
          .getTools()
          .flatMap(({ name }) => ((current?.decide({ caller: ANY, tool: name }).isAllowed ?? true) ? [name] : [])),
      );
    };
    this.provider = new AdvisedTools({
      advice: names(),
      tools: (toolNames) => [...others, ...toolsOf(desk, toolNames)],
    });
    this.#loop = startLoop(LOOK_MS, () => this.provider.advise(names()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }
}

function toolsOf(desk: RobotDesk, toolNames: readonly string[]): readonly Tool[] {
  const [only, some] = [{ model: desk.models }, { tools: toolNames }];
  return [
    robotCreate(desk, advised(tools.robotCreate, only, some)),
    robotList(desk),
    robotGet(desk),
    robotUpdate(desk, advised(tools.robotUpdate, only, some)),
    robotDelete(desk),
    robotSwitch(desk),
  ];
}

/** Before the names, a glob for those that begin alike: it also has those of them that a model is not shown. */
function withGlobs(names: readonly string[]): readonly string[] {
  const distinct = [...new Set(names)].sort();
  const beginnings = distinct.map((name) => /^[^_]+__?/.exec(name)?.[0]);
  const globs = [...new Set(beginnings)]
    .filter((one) => one !== undefined && beginnings.indexOf(one) !== beginnings.lastIndexOf(one))
    .map((one) => `${one}*`);
  return ["*", ...globs, ...distinct].slice(0, MAX_ADVICE);
}
