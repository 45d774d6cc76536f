import { hash } from "node:crypto";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { WorkingMemory } from "@rockbot/memory";
import { StoreUnavailableError } from "@rockbot/records";

export interface TaskOwnersOptions {
  readonly memory: Pick<WorkingMemory, "of">;
  readonly log: Logger;
}

export interface TaskIds {
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
}

const KEPT_MS = 24 * 3_600_000;

/**
 * The ids of tasks and conversations that each agent gave to each caller, for a day, in a working memory that has
 * nothing else. Ids of others are refused: an agent sees one credential for all callers, and may number its tasks.
 */
export class TaskOwners {
  readonly #memory: Pick<WorkingMemory, "of">;
  readonly #log: Logger;

  constructor({ memory, log }: TaskOwnersOptions) {
    this.#memory = memory;
    this.#log = log;
  }

  /**
   * Notes whose the ids are, and which call they are of. Where it cannot be noted the task goes on, and its ids are of
   * no use later.
   */
  async note(
    caller: string,
    agent: string,
    { toolCallId, taskId, contextId }: TaskIds & { readonly toolCallId: string },
  ): Promise<void> {
    const told = [
      keyOf("call", toolCallId),
      ...(taskId === undefined ? [] : [keyOf(agent, "task_id", taskId)]),
      ...(contextId === undefined ? [] : [keyOf(agent, "context_id", contextId)]),
    ];
    const value = JSON.stringify({ taskId, contextId });
    const writing = Promise.all(told.map((key) => this.#memory.of(caller).set(key, value, { ttlMs: KEPT_MS })));
    await writing.catch((error: unknown) =>
      this.#log.warn({ agent, reason: String(error) }, "could not note whose a task of an agent is"),
    );
  }

  /** The ids that an earlier execution of the call has noted, as far as can be read now. */
  async ofCall(caller: string, toolCallId: string): Promise<TaskIds> {
    const noted = await this.#memory
      .of(caller)
      .get(keyOf("call", toolCallId))
      .catch(
        (error: unknown) =>
          void this.#log.warn(
            { toolCallId, reason: String(error) },
            "could not read which task of an agent a call was for",
          ),
      );
    return noted === undefined ? {} : JSON.parse(noted.value);
  }

  /** @throws {ToolError} if the agent has not told this caller of it, as far as the memory knows */
  async check(caller: string, agent: string, kind: "task_id" | "context_id", id: string | undefined): Promise<void> {
    if (id === undefined) return;
    const nothing = `Nothing was sent to the agent "${agent}":`;
    const found = await this.#memory
      .of(caller)
      .get(keyOf(agent, kind, id))
      .catch((cause: unknown) => {
        if (!(cause instanceof StoreUnavailableError)) throw cause;
        const why = `${nothing} the memory that says whose the ${kind} is does not answer. Try again later.`;
        throw new ToolError(ToolErrorCode.Unavailable, why, { cause, details: { mayHaveRun: false } });
      });
    if (found !== undefined) return;
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `${nothing} the ${kind} ${JSON.stringify(id)} is not known to be yours. Use one from a result of yours, or leave it out to begin anew.`,
      { details: { mayHaveRun: false } },
    );
  }
}

/** A namespace for each id, as the entries of one are few. */
const keyOf = (...parts: readonly string[]): string =>
  `a2a-task/${hash("sha256", JSON.stringify(parts), "hex").slice(0, 32)}/owner`;
