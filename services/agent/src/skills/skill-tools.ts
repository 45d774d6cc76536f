import type { Tool } from "@rockbot/tools";
import type { SkillDesk } from "./skill-desk.ts";
import { deleteSkill } from "./tools/delete-skill.ts";
import { getSkill } from "./tools/get-skill.ts";
import { listSkills } from "./tools/list-skills.ts";
import { saveSkill } from "./tools/save-skill.ts";

/** The four tools for skills. */
export const skillTools = (desk: SkillDesk): readonly Tool[] => [
  saveSkill(desk),
  listSkills(desk),
  getSkill(desk),
  deleteSkill(desk),
];
