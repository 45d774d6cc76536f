import { withStore } from "@rockbot/agent";
import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { RobotDesk } from "../robot-desk.ts";

/** `robot_delete`: deletes a robot of the caller's. */
export function robotDelete({ robots }: RobotDesk): Tool {
  return defineTool(tools.robotDelete, ({ robot_id: id }, { caller, grant }) =>
    withStore("delete the robot", async () => {
      const robot = await robots.findOwn(caller, id, { what: "deleted", grant });
      if ((await robots.store.remove(id, robot.version)) === "stale")
        throw new ToolError(
          ToolErrorCode.InvalidArguments,
          `The robot "${robot.name}" was not deleted: it was changed in this moment. Read it again.`,
        );
      return { content: `Deleted the robot ${robot.name} (id ${id}).`, structured: { robot_id: id, name: robot.name } };
    }),
  );
}
