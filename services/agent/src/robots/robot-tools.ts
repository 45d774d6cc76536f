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

/** Values that a schema has at most. */
const MAX_ADVICE = 100;
/** How often the service looks which tools there are. */
const LOOK_MS = 30_000;

/** The tools of the service, those for robots with the names of tools in their schemas: names that every caller may know, and globs of them. */
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
      return withGlobs(caller.tools.getTools().flatMap(({ name }) => ((current?.decide({ caller: ANY, tool: name }).isAllowed ?? true) ? [name] : [])));
    };
    this.provider = new AdvisedTools({ advice: names(), tools: (toolNames) => [...others, ...toolsOf(desk, toolNames)] });
    this.#loop = startLoop(LOOK_MS, () => this.provider.advise(names()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }
}

function toolsOf(desk: RobotDesk, toolNames: readonly string[]): readonly Tool[] {
  const fields = { tools: toolNames, model: desk.models };
  return [
    robotCreate(desk, advised(tools.robotCreate, fields)),
    robotList(desk),
    robotGet(desk),
    robotUpdate(desk, advised(tools.robotUpdate, fields)),
    robotDelete(desk),
    robotSwitch(desk),
  ];
}

/** Beside the names, a glob for those that begin alike: a model that is shown values writes no other. */
function withGlobs(names: readonly string[]): readonly string[] {
  const distinct = [...new Set(names)].sort();
  const beginnings = distinct.map((name) => /^[^_]+__?/.exec(name)?.[0]);
  const globs = [...new Set(beginnings)].filter((one) => one !== undefined && beginnings.indexOf(one) !== beginnings.lastIndexOf(one)).map((one) => `${one}*`);
  return ["*", ...globs, ...distinct].slice(0, MAX_ADVICE);
}
