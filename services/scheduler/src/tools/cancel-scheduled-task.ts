import { printable, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { isOver } from "../task/scheduled-task.ts";
import { isSameName, ownerOf, type SchedulingParts, visibleTasks } from "./scheduling-parts.ts";
import { withStore } from "./store-errors.ts";

/**
 * `cancel_scheduled_task`: removes a task of the same caller. A run that is on its way ends by itself. Which task it is
 * does not hang on where it is asked.
 */
export function cancelScheduledTask({ store }: Pick<SchedulingParts, "store">): Tool {
  return defineTool(tools.cancelScheduledTask, ({ name, conversation }, context) =>
    withStore("cancel the task", async () => {
      const { caller, sessionId } = ownerOf(context);
      for (;;) {
        const { visible } = await visibleTasks(store, context);
        const named = visible.filter(
          (each) => isSameName(each.name, name) && (conversation ?? each.sessionId) === each.sessionId,
        );
        const live = named.filter((each) => !isOver(each));
        const [task, other] = live.length === 0 ? named : live;
        if (task === undefined) {
          const where = conversation == null ? "" : ` in the conversation ${printable(conversation)}`;
          const content = `There is no scheduled task "${name}"${where}. list_scheduled_tasks shows those that there are.`;
          return { content, structured: { name, cancelled: false } };
        }
        const here = context.sessionId === undefined ? undefined : sessionId; // a terminal has no conversation
        if (other !== undefined)
          throw new ToolError(
            ToolErrorCode.InvalidArguments,
            `Nothing was cancelled: several conversations have a scheduled task "${name}". ${here === undefined ? "Name the conversation, too" : `Give conversation, as list_scheduled_tasks has it. This one is ${JSON.stringify(here)}`}.`,
          );
        const stored = await store.read(task.key);
        if (stored === undefined) continue;
        const outcome = await store.write({ key: task.key, caller, version: stored.version, task: undefined });
        if (outcome !== "written") continue; // a fire has come between
        const where = task.sessionId === here ? "this conversation" : `the conversation ${printable(task.sessionId)}`;
        const structured = { name: task.name, cancelled: live.length > 0, conversation: task.sessionId };
        if (live.length === 0) {
          const content = `Nothing was left to cancel: the scheduled task "${task.name}" of ${where} was over. The list shows neither it nor its answer any more.`;
          return { content, structured };
        }
        const still = stored.task.running === undefined ? "" : " A run of it still goes on, and ends by itself.";
        return { content: `Cancelled the scheduled task "${task.name}" of ${where}.${still}`, structured };
      }
    }),
  );
}
