import { printable, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { withStore } from "./store-errors.ts";
import { isSameName, ownerOf, type TaskDesk, visibleTasks } from "./task-desk.ts";

/** `cancel_scheduled_task`: removes a task of the same caller. A run that is on its way ends by itself. Which task it is does not hang on where it is asked. */
export function cancelScheduledTask({ store }: Pick<TaskDesk, "store">): Tool {
  return defineTool(tools.cancelScheduledTask, ({ name, conversation }, context) =>
    withStore("cancel the task", async () => {
      const { caller, sessionId } = ownerOf(context);
      const wordsOf = (id: string): string => (id === sessionId ? "this conversation" : `the conversation ${printable(id)}`);
      for (;;) {
        const named = (await visibleTasks(store, context)).visible.filter((task) => isSameName(task.name, name));
        const meant = conversation == null ? named : named.filter((task) => task.sessionId === conversation);
        const [task] = meant;
        if (task === undefined) {
          const others = named.map((each) => wordsOf(each.sessionId)).join(", ");
          const help = others === "" ? "list_scheduled_tasks shows those that there are." : `There is one in ${others}.`;
          const where = conversation == null ? "" : ` in ${wordsOf(conversation)}`;
          return { content: `There is no scheduled task "${name}"${where}. ${help}`, structured: { name, cancelled: false } };
        }
        if (meant.length > 1)
          throw severalNamed(
            name,
            meant.map((each) => `${JSON.stringify(each.sessionId)}${each.sessionId === sessionId ? " (this one)" : ""}`),
          );
        const stored = await store.read(task.key);
        if (stored === undefined) continue;
        const outcome = await store.write({ key: task.key, caller, version: stored.version, task: undefined });
        if (outcome !== "written") continue; // a fire has come between
        const still = stored.task.running === undefined ? "" : " A run of it still goes on, and ends by itself.";
        return {
          content: `Cancelled the scheduled task "${task.name}" of ${wordsOf(task.sessionId)}.${still}`,
          structured: { name: task.name, cancelled: true, conversation: task.sessionId },
        };
      }
    }),
  );
}

const severalNamed = (name: string, conversations: readonly string[]): ToolError =>
  new ToolError(
    ToolErrorCode.InvalidArguments,
    `Nothing was cancelled: ${conversations.length} conversations have a scheduled task "${name}". Give conversation as one of ${conversations.join(", ")}.`,
  );
