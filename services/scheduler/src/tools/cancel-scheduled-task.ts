import { tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { taskKey } from "../task/scheduled-task.ts";
import { withStore } from "./store-errors.ts";
import { ownerOf, type TaskDesk } from "./task-desk.ts";

/** `cancel_scheduled_task`: removes a task of the same caller and session. A run that is on its way ends by itself. */
export function cancelScheduledTask({ store }: Pick<TaskDesk, "store">): Tool {
  return defineTool(tools.cancelScheduledTask, ({ name }, context) =>
    withStore("cancel the task", async () => {
      const owner = ownerOf(context);
      const key = taskKey({ ...owner, name });
      for (;;) {
        const stored = await store.read(key);
        if (stored === undefined) {
          return {
            content: `There is no scheduled task "${name}" in this conversation. list_scheduled_tasks shows those that there are.`,
            structured: { name, cancelled: false },
          };
        }
        const outcome = await store.write({ key, caller: owner.caller, version: stored.version, task: undefined });
        if (outcome !== "written") continue; // a fire has come between
        const still = stored.task.running === undefined ? "" : " A run of it still goes on, and ends by itself.";
        return { content: `Cancelled the scheduled task "${stored.task.name}".${still}`, structured: { name: stored.task.name, cancelled: true } };
      }
    }),
  );
}
