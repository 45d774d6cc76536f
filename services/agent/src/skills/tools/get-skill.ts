import { recordTaint, withStore } from "@rockbot/agent";
import { saidBy, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { SkillDesk } from "../skill-desk.ts";

/** `get_skill`: one skill in full. */
export function getSkill({ skills }: SkillDesk): Tool {
  return defineTool(tools.getSkill, ({ name }, { caller }) =>
    withStore("read the skill", async () => {
      const skill = await skills.find(caller, name);
      const { summary, tags, content, maker, hash, approvedHash, version, isUntrusted } = skill;
      const taint = recordTaint("skill", skill);
      return {
        content,
        structured: {
          name,
          summary,
          tags: [...tags],
          content,
          maker,
          is_own: maker === caller,
          is_shared: approvedHash === hash,
          is_untrusted: isUntrusted,
          version,
          hash,
          created_at: new Date(skill.createdAt).toISOString(),
          updated_at: new Date(skill.updatedAt).toISOString(),
        },
        ...(taint.isUntrusted ? { trust: saidBy(taint.origin) } : {}),
      };
    }),
  );
}
