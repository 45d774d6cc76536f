import { withStore } from "@rockbot/agent";
import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { SkillDesk } from "../skill-desk.ts";

/** `delete_skill`: deletes a skill of the caller's. */
export function deleteSkill({ skills }: SkillDesk): Tool {
  return defineTool(tools.deleteSkill, ({ name }, { caller, grant }) =>
    withStore("delete the skill", async () => {
      const { id, version } = await skills.findOwn(caller, name, { what: "deleted", grant });
      if ((await skills.store.remove(id, version)) === "stale")
        throw new ToolError(
          ToolErrorCode.InvalidArguments,
          `The skill "${name}" was not deleted: it was changed in this moment. Read it again.`,
        );
      return { content: `Deleted the skill ${name}, which was version ${version}.`, structured: { name, version } };
    }),
  );
}
