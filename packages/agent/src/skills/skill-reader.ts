import type { KeptSkill } from "./kept-skill.ts";

/** The skills that a caller may read. */
export interface SkillReader {
  /** Its own, and those that are shared with it. The first of a name counts. */
  visibleTo(caller: string): Promise<readonly Pick<KeptSkill, "name" | "summary" | "tags" | "isUntrusted">[]>;
}
