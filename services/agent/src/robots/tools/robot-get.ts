import { type KeptDefinition, withStore } from "@rockbot/agent";
import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { RobotDesk } from "../robot-desk.ts";
import { trustOf } from "./robot-list.ts";

/** `robot_get`: one robot in full. */
export function robotGet({ robots }: RobotDesk): Tool {
  return defineTool(tools.robotGet, ({ robot_id: id }, { caller }) =>
    withStore("read the robot", async () => {
      const robot = await robots.find(caller, id);
      const {
        name,
        description,
        playbook,
        model = null,
        budgets = {},
        reportSchema,
        maker,
        hash,
        approvedHash,
        version,
        isUntrusted,
      } = robot;
      const { maxTokens, maxIterations, timeoutMs, maxCost } = budgets;
      const [toolNames, destinations] = [[...robot.tools], [...(robot.destinations ?? [])]];
      return {
        content: textOf(robot),
        structured: {
          robot_id: id,
          name,
          description,
          playbook,
          tools: toolNames,
          model,
          ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
          ...(maxIterations === undefined ? {} : { max_iterations: maxIterations }),
          ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
          ...(maxCost === undefined ? {} : { max_cost: maxCost }),
          destinations,
          ...(reportSchema === undefined ? {} : { report_schema: { ...reportSchema } }),
          maker,
          is_own: maker === caller,
          is_shared: approvedHash === hash,
          is_untrusted: isUntrusted,
          version,
          hash,
          created_at: isoTime(robot.createdAt),
          updated_at: isoTime(robot.updatedAt),
        },
        ...trustOf([robot]),
      };
    }),
  );
}

function textOf({
  name,
  description,
  playbook,
  tools: toolNames,
  model,
  destinations = [],
  maker,
  version,
  hash,
  approvedHash,
}: KeptDefinition): string {
  const facts = [
    description,
    `tools: ${toolNames.join(", ") || "none"}`,
    ...(model === undefined ? [] : [`model: ${model}`]),
    ...(destinations.length === 0 ? [] : [`destinations: ${destinations.join(", ")}`]),
    `version ${version} by ${maker}, ${approvedHash === hash ? "shared" : "not shared"}`,
  ].filter(Boolean);
  return `# ${name}\n\n${facts.join("\n")}\n\n${playbook}`;
}

const isoTime = (ms: number): string => new Date(ms).toISOString();
