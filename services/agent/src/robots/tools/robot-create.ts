import { createHash } from "node:crypto";
import { type KeptDefinition, tooLarge, withStore } from "@rockbot/agent";
import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { RobotDesk } from "../robot-desk.ts";
import { draftOf, savedResult } from "../save-robot.ts";

/**
 * `robot_create`: makes a robot of the caller's. Its id follows from the call, so that a call that is run again makes
 * no second one.
 */
export function robotCreate(desk: RobotDesk, definition = tools.robotCreate): Tool {
  const { robots, maxRobotsPerCaller, now } = desk;
  return defineTool(
    definition,
    (input, { caller, toolCallId, hasReadUntrusted = false, grant }) =>
      withStore("make the robot", async () => {
        const draft = await draftOf(input, emptyRobot(caller, toolCallId, now()), {
          desk,
          caller,
          hasReadUntrusted,
          grant,
        });
        const made = await robots.store.create(draft.robot, maxRobotsPerCaller);
        const refuse = (code: ToolErrorCode, why: string): never => {
          throw new ToolError(code, `The robot was not saved. ${why}`);
        };
        if (made === "taken")
          refuse(
            ToolErrorCode.InvalidArguments,
            `name: you have a robot ${JSON.stringify(draft.robot.name)} already. Choose another name`,
          );
        if (made === "full")
          refuse(
            ToolErrorCode.Denied,
            `"${caller}" has ${maxRobotsPerCaller} robots, which is all that it may have. Change one that is there, or delete one`,
          );
        if (made === "large") throw tooLarge("robot", caller);
        return savedResult("Made", draft);
      }),
    { isResumable: true },
  );
}

function emptyRobot(maker: string, toolCallId: string, createdAt: number): KeptDefinition {
  const id = createHash("sha256")
    .update(JSON.stringify([maker, toolCallId]))
    .digest("hex")
    .slice(0, 24);
  return {
    id,
    name: "",
    description: "",
    playbook: "",
    tools: [],
    maker,
    isUntrusted: false,
    hash: "",
    version: 0,
    createdAt,
    updatedAt: createdAt,
  };
}
