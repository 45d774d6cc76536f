import type { Robots } from "./robots.ts";

/** The parts that the tools share. */
export interface RobotDesk {
  readonly robots: Robots;
  /** Names of the tools that a caller may use now on the bus. */
  readonly toolsOf: (caller: string) => readonly string[];
  /** Names of models that robots may have. */
  readonly models: readonly string[];
  readonly maxRobotsPerCaller: number;
  /** In Unix milliseconds. */
  readonly now: () => number;
}
