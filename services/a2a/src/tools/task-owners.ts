import { RecentMap } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/** Of tasks and of conversations. */
const MAX_KEPT = 20_000;

/**
 * Which caller was told which ids of tasks and conversations by which agent. Ids of others are refused: an agent sees one credential for all
 * callers, and may number its tasks.
 */
export class TaskOwners {
  readonly #told = new RecentMap<string, true>(MAX_KEPT);

  note(caller: string, agent: string, { taskId, contextId }: { readonly taskId: string | undefined; readonly contextId: string | undefined }): void {
    if (taskId !== undefined) this.#told.set(keyOf(caller, agent, "task_id", taskId), true);
    if (contextId !== undefined) this.#told.set(keyOf(caller, agent, "context_id", contextId), true);
  }

  /** @throws {ToolError} if the agent has not told this caller of it, as far as this process knows */
  check(caller: string, agent: string, kind: "task_id" | "context_id", id: string | undefined): void {
    if (id === undefined || this.#told.has(keyOf(caller, agent, kind, id))) return;
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Nothing was sent to the agent "${agent}": it is not known that it gave you the ${kind} ${JSON.stringify(id)}. Use one of a result of yours, or leave it out and begin anew.`,
      { details: { mayHaveRun: false } },
    );
  }
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts);
