import type { RecordStore } from "@rockbot/agent";
import type { KeptWisp } from "@rockbot/wisps";
import type { Robots } from "./robots.ts";

/** The parts that the tools share. */
export interface RobotDesk {
  readonly robots: Robots;
  /** Names of the tools that a caller may use now on the bus. */
  readonly toolsOf: (caller: string) => readonly string[];
  /** The wisps that callers have saved, which are tools of their sessions. */
  readonly wisps: Pick<RecordStore<KeptWisp>, "visibleTo">;
  /** True if the policy lets a caller call a robot. */
  readonly mayCall: (caller: string, robot: string) => boolean;
  /** Names of models that robots may have. */
  readonly models: readonly string[];
  readonly maxRobotsPerCaller: number;
  /** The clock, in Unix milliseconds. */
  readonly now: () => number;
}
