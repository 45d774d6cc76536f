import { isBounded, type KeptSkill, saveNamed, skillHash } from "@rockbot/agent";
import { ToolError, ToolErrorCode, type ToolSaveSkillOutput, tools } from "@rockbot/contracts";
import { defineTool, type Tool, type ToolResult } from "@rockbot/tools";
import { readSkill } from "../read-skill.ts";
import type { SkillDesk } from "../skill-desk.ts";

/** `save_skill`: makes a skill of the caller's, or its next version. A change of it takes its approval away. */
export function saveSkill({ skills, maxSkillsPerCaller: maxOfMaker, now }: SkillDesk): Tool {
  return defineTool(
    tools.saveSkill,
    async ({ name, content, version }, { caller: maker, hasReadUntrusted = false, grant }) => {
      const { summary, tags, faults } = readSkill(name, content);
      const { record, isChanged } = await saveNamed<KeptSkill>({
        kind: "skill",
        store: skills.store,
        maker,
        name,
        version,
        maxOfMaker,
        hasReadUntrusted: hasReadUntrusted || isBounded(grant), // its words would have rights that its session has not
        grant,
        now: now(),
        content: { summary, tags, content },
        hashOf: skillHash,
        faults: () => faults,
        refusal: (all) => new ToolError(ToolErrorCode.InvalidArguments, `The skill was not saved. ${all.join("; ")}`),
      });
      return savedResult(isChanged ? "Saved" : "Nothing changes in", record);
    },
    { isResumable: true },
  );
}

function savedResult(
  did: string,
  { name, summary, version, hash, approvedHash }: KeptSkill,
): ToolResult<ToolSaveSkillOutput> {
  const isShared = approvedHash === hash;
  return {
    content: `${did} the skill ${name}, version ${version}: ${summary} ${isShared ? "Others see it as it is." : "You alone see it."}`,
    structured: { name, summary, version, hash, is_shared: isShared },
  };
}
