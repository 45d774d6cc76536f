import type { StreamResponse } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import { type AgentEvent, tools } from "@rockbot/contracts";
import type { StoredTask } from "../store/task-store.ts";
import { answerOf, statusOf, wordsOf } from "./task-message.ts";

/**
 * What a stream tells of a turn's steps. The text before a call of a tool was no answer: what comes behind the call
 * replaces it.
 */
export class TaskEvents {
  readonly #task: StoredTask;
  readonly #hasPieces: boolean;
  #isBegun = false;
  #text = "";
  /** True while a report comes. Only the end of the turn says whether that is the answer or a question. */
  #isReport = false;

  /** @param hasPieces true to send the answer as it comes, false to send it at the end */
  constructor(task: StoredTask, hasPieces = true) {
    this.#task = task;
    this.#hasPieces = hasPieces;
  }

  /** @param event of any turn of the session; those of the task's newest turn count */
  step(event: AgentEvent): StreamResponse[] {
    if (event.turnId !== this.#task.turnId) return [];
    switch (event.kind) {
      case "text":
        return event.text && this.#hasPieces && !this.#isReport ? [this.#piece(event.text)] : [];
      case "tool_started":
        this.#drop();
        this.#isReport = event.toolName === tools.agentFinalReport.name;
        return [this.#working(`Calling ${event.toolName ?? "a tool"}`, event)];
      case "tool_progress":
      case "notice":
        if (event.dropsText) this.#drop();
        return event.message || event.text ? [this.#working(event.message || event.text || "", event)] : [];
      default:
        return [];
    }
  }

  /** The end of the turn, and the whole answer if the pieces were not that. */
  end(ended: StoredTask): StreamResponse[] {
    const whole =
      ended.standing === "completed" && ended.answer !== this.#text ? [this.#answer(ended.answer, false, true)] : [];
    const { id: taskId, contextId } = ended;
    return [
      ...whole,
      {
        payload: { $case: "statusUpdate", value: { taskId, contextId, status: statusOf(ended), metadata: undefined } },
      },
    ];
  }

  /** The next piece replaces what there is. */
  #drop(): void {
    this.#isBegun = false;
    this.#text = "";
  }

  #piece(text: string): StreamResponse {
    const isMore = this.#isBegun;
    this.#isBegun = true;
    this.#text += text;
    return this.#answer(text, isMore, false);
  }

  #answer(text: string, append: boolean, lastChunk: boolean): StreamResponse {
    const { id: taskId, contextId } = this.#task;
    return {
      payload: {
        $case: "artifactUpdate",
        value: { taskId, contextId, artifact: answerOf(text), append, lastChunk, metadata: undefined },
      },
    };
  }

  #working(text: string, { sequence, at }: AgentEvent): StreamResponse {
    const { id: taskId, contextId } = this.#task;
    const message = wordsOf(this.#task, text, `${taskId}-${sequence}`);
    return {
      payload: {
        $case: "statusUpdate",
        value: {
          taskId,
          contextId,
          status: { state: TaskState.TASK_STATE_WORKING, message, timestamp: at },
          metadata: undefined,
        },
      },
    };
  }
}
