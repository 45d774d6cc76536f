import { type ToolAgentTaskStatusInput, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";

/** `agent__task_status`: shows how far the task is. */
export function taskStatusTool(): Tool {
  return defineTool(tools.agentTaskStatus, async (input, { progress }) => {
    const { status, done, pending, now } = input;
    const words = [
      now,
      done === undefined ? undefined : `Done: ${done}`,
      pending === undefined ? undefined : `Left: ${pending}`,
    ];
    progress({ message: [status, ...words].filter((text) => text !== undefined && text !== "").join(". ") });
    const isDone = saysDone(input);
    return {
      content: isDone ? `Shown. End the task now: call "${tools.agentFinalReport.name}".` : "Shown. Go on.",
      structured: { is_done: isDone },
    };
  });
}

/** Tells whether an agent says that only its report is left to do. */
export const saysDone = ({
  status,
  ready_for_final_report: isReady,
  need_to_run_more_tools: needsMore,
}: ToolAgentTaskStatusInput): boolean => needsMore !== true && (status === "completed" || isReady === true);
