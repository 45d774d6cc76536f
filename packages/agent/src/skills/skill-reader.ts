import type { KeptSkill } from "./kept-skill.ts";

/** The skills that a caller may read. */
export interface SkillReader {
  /** Its own, and those that are shared with it. Of several of a name the first counts. */
  visibleTo(caller: string): Promise<readonly Pick<KeptSkill, "name" | "summary" | "tags" | "isUntrusted">[]>;
}
