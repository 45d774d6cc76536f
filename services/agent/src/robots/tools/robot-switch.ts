import { isBounded, withStore } from "@rockbot/agent";
import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { sessionNamespace } from "@rockbot/memory";
import { defineTool, type Tool } from "@rockbot/tools";
import type { RobotDesk } from "../robot-desk.ts";

/** `robot_switch`: what the session is from its next turn on. */
export function robotSwitch({ robots, mayCall }: RobotDesk): Tool {
  return defineTool(
    tools.robotSwitch,
    ({ robot_id: id, session_id }, { caller, sessionId, grant }) =>
      withStore("switch the session", async () => {
        const session = session_id == null ? sessionId : sessionNamespace(session_id);
        const robot = id === null ? undefined : await robots.find(caller, id, "The session was not switched.");
        if (session === undefined)
          throw new ToolError(
            ToolErrorCode.InvalidArguments,
            "The session was not switched. session_id: this call belongs to no session, so say which one is to be switched.",
          );
        if (isBounded(grant) && session !== sessionId)
          throw new ToolError(
            ToolErrorCode.Denied,
            "The session was not switched: an agent with tools of its own switches its own session only. Leave session_id out.",
          );
        if (robot !== undefined && !mayCall(caller, robot.name))
          throw new ToolError(
            ToolErrorCode.Denied,
            `The session was not switched: the policy does not let "${caller}" call the robot "${robot.name}". Choose another.`,
          );
        await robots.store.switchSession(caller, session, robot?.id);
        const { name = null } = robot ?? {};
        return {
          content: `From its next turn on the session is ${name === null ? "the plain agent" : `the robot ${name}`}.`,
          structured: { robot_id: robot?.id ?? null, name },
        };
      }),
    { isResumable: true },
  );
}
