import { tooLarge, withStore } from "@rockbot/agent";
import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { RobotDesk } from "../robot-desk.ts";
import { draftOf, savedResult } from "../save-robot.ts";

/** Others may change the robot in the same moment so often. */
const MAX_ATTEMPTS = 5;

/** `robot_update`: changes a robot of the caller's. A change of what it does takes its approval away. */
export function robotUpdate(desk: RobotDesk, definition = tools.robotUpdate): Tool {
  const { robots } = desk;
  return defineTool(
    definition,
    ({ robot_id: id, version, ...input }, { caller, hasReadUntrusted = false, grant }) =>
      withStore("change the robot", async () => {
        for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
          const before = await robots.findOwn(caller, id, { what: "changed", grant });
          const draft = await draftOf(input, before, { desk, caller, hasReadUntrusted, grant });
          if (draft.robot.hash === before.hash && draft.robot.grant === before.grant)
            return savedResult("Nothing changes in", { ...draft, robot: before }); // also where this call has made the change
          if (version != null && before.version !== version)
            throw new ToolError(
              ToolErrorCode.InvalidArguments,
              `The robot "${before.name}" was not changed: it is version ${before.version} by now, not ${version}. Read it again.`,
            );
          const outcome = await robots.store.update(draft.robot);
          if (outcome === "changed") return savedResult("Changed", draft);
          if (outcome === "large") throw tooLarge("robot", caller);
        }
        throw new ToolError(
          ToolErrorCode.Unavailable,
          "The robot was not changed: others change it all the time. Read it again, and try once more.",
        );
      }),
    { isResumable: true },
  );
}
