import { withStore } from "@rockbot/agent";
import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { SkillDesk } from "../skill-desk.ts";
import { skillTrust } from "../skill-trust.ts";

const DEFAULT_LIMIT = 100;

/** `list_skills`: the skills that the caller may read, by name. */
export function listSkills({ skills }: SkillDesk): Tool {
  return defineTool(tools.listSkills, ({ tag, limit }, { caller }) =>
    withStore("list the skills", async () => {
      const visible = (await skills.visibleTo(caller))
        .filter(({ tags }) => tag == null || tags.includes(tag))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const shown = visible.slice(0, limit ?? DEFAULT_LIMIT);
      const entries = shown.map(({ name, summary, tags, version, maker, hash, approvedHash, isUntrusted }) => ({
        name,
        summary,
        tags: [...tags],
        version,
        is_own: maker === caller,
        is_shared: approvedHash === hash,
        is_untrusted: isUntrusted,
      }));
      const lines = entries.map(
        ({ name, summary, version, is_own }) => `- ${name} (version ${version}${is_own ? ", yours" : ""}): ${summary}`,
      );
      const more =
        visible.length > shown.length ? [`${visible.length - shown.length} more: ask with a higher limit.`] : [];
      const none =
        tag == null
          ? "There are no skills yet. save_skill makes one."
          : `No skill that you see has the tag ${JSON.stringify(tag)}.`;
      return {
        content: visible.length === 0 ? none : [`Available skills (${visible.length}):`, ...lines, ...more].join("\n"),
        structured: { skills: entries, total: visible.length },
        ...skillTrust(shown),
      };
    }),
  );
}
