import type { Skills } from "./skills.ts";

/** The parts that the tools share. */
export interface SkillDesk {
  readonly skills: Skills;
  readonly maxSkillsPerCaller: number;
  /** The clock, in Unix milliseconds. */
  readonly now: () => number;
}
