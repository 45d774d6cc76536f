import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from "@a2a-js/sdk";
import { visibleText } from "@rockbot/contracts";

/** How a task can end for the one who waits for it. The last two go on once more is said. */
export type EndState = "completed" | "failed" | "canceled" | "rejected" | "input_required" | "auth_required";

const ENDS: ReadonlyMap<TaskState, EndState> = new Map([
  [TaskState.TASK_STATE_COMPLETED, "completed"],
  [TaskState.TASK_STATE_FAILED, "failed"],
  [TaskState.TASK_STATE_CANCELED, "canceled"],
  [TaskState.TASK_STATE_REJECTED, "rejected"],
]);
const ASKS: ReadonlyMap<TaskState, EndState> = new Map([
  [TaskState.TASK_STATE_INPUT_REQUIRED, "input_required"],
  [TaskState.TASK_STATE_AUTH_REQUIRED, "auth_required"],
]);
const GOES_ON: ReadonlySet<TaskState> = new Set([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]);

const MAX_ID = 256;
const MAX_ARTIFACTS = 1_000;

/** A task as its agent has told of it so far. What comes after its end changes nothing. */
export class TaskView {
  #taskId: string | undefined;
  #contextId: string | undefined;
  #status: TaskStatus | undefined;
  #artifacts = new Map<string, Part[]>();
  #history: readonly Message[] = [];
  #message: Message | undefined;
  /** True if its state is of now: the snapshot at the beginning of a further message is of before it. */
  #isNow: boolean;
  #end: EndState | undefined;

  /** @param taskId of the task that a message goes on with */
  constructor({ taskId, isAnswered }: { readonly taskId: string | undefined; readonly isAnswered: boolean }) {
    this.#taskId = taskId;
    this.#isNow = !isAnswered;
  }

  get taskId(): string | undefined {
    return this.#taskId;
  }

  get contextId(): string | undefined {
    return this.#contextId;
  }

  get end(): EndState | undefined {
    return this.#end;
  }

  /** True if its state is one that A2A has. */
  get isKnown(): boolean {
    const state = this.#status?.state;
    return this.#end !== undefined || (state !== undefined && (GOES_ON.has(state) || ASKS.has(state)));
  }

  /** Takes in one event. @returns what to tell of it while the task goes on */
  take({ payload }: StreamResponse): string | undefined {
    if (this.#end !== undefined || payload === undefined) return undefined;
    if (payload.$case === "message") {
      this.#message = payload.value;
      this.#contextId = idOf(payload.value.contextId) ?? this.#contextId;
      this.#end = "completed";
      return undefined;
    }
    const id = payload.$case === "task" ? payload.value.id : payload.value.taskId;
    if (this.#taskId !== undefined && id !== this.#taskId) return undefined;
    this.#taskId = idOf(id);
    this.#contextId = idOf(payload.value.contextId) ?? this.#contextId;
    if (payload.$case === "task") return this.takeTask(payload.value);
    if (payload.$case === "statusUpdate") {
      this.#isNow = true;
      return this.#take(payload.value.status);
    }
    const { artifact, append } = payload.value;
    if (artifact === undefined) return undefined;
    this.#add(artifact, append);
    return artifact.name === ""
      ? "It sends a part of the result"
      : `It sends ${JSON.stringify(visibleText(artifact.name).slice(0, 100))}`;
  }

  /** Takes in the whole task. @param isNow whether it was asked for just now */
  takeTask(task: Task, isNow = false): string | undefined {
    if (this.#end !== undefined) return undefined;
    this.#isNow ||= isNow;
    this.#artifacts = new Map();
    for (const artifact of task.artifacts) this.#add(artifact, false);
    this.#history = task.history;
    return this.#take(task.status);
  }

  /**
   * The agent has answered whole: a state that asks for more stands. A stream that ends after the snapshot says nothing
   * of the answer, so its task is asked for.
   */
  close(): void {
    this.#end ??= ASKS.get(this.#status?.state ?? TaskState.UNRECOGNIZED);
  }

  /** All that the agent has said as the result, as text. */
  get text(): string {
    if (this.#message !== undefined) return textOf(this.#message.parts);
    const said = [...this.#artifacts.values(), this.#status?.message?.parts ?? []]
      .map(textOf)
      .filter((text) => text !== "");
    if (said.length > 0) return [...new Set(said)].join("\n\n");
    return textOf(this.#history.findLast(({ role }) => role === Role.ROLE_AGENT)?.parts ?? []);
  }

  #take(status: TaskStatus | undefined): string | undefined {
    if (status === undefined) return undefined;
    this.#status = status;
    this.#end = ENDS.get(status.state) ?? (this.#isNow ? ASKS.get(status.state) : undefined);
    return this.#end === undefined && status.message !== undefined
      ? textOf(status.message.parts) || undefined
      : undefined;
  }

  #add({ artifactId, parts }: Artifact, append: boolean): void {
    const known = append ? this.#artifacts.get(artifactId) : undefined;
    if (known !== undefined) known.push(...parts);
    else if (this.#artifacts.size < MAX_ARTIFACTS) this.#artifacts.set(artifactId, [...parts]);
  }
}

/** An id that can be given back to the agent as it is. */
export const idOf = (id: string | undefined): string | undefined =>
  id !== undefined && id !== "" && id.length <= MAX_ID && /^[\x21-\x7e]+$/.test(id) ? id : undefined;

/** Neighbouring texts are pieces of one: agents send them as they come. */
function textOf(parts: readonly Part[]): string {
  let text = "";
  for (const { content, mediaType, filename } of parts) {
    if (content?.$case === "text") text += content.value;
    else if (content !== undefined)
      text += `${text === "" || text.endsWith("\n") ? "" : "\n"}${described(content, mediaType || "a file of no said type", filename)}\n`;
  }
  return visibleText(text).trim();
}

function described(content: NonNullable<Part["content"]>, type: string, filename: string): string {
  const name = filename === "" ? "" : ` ${JSON.stringify(filename.slice(0, 200))}`;
  if (content.$case === "url") return `(file${name}, ${type.slice(0, 100)}, at ${content.value.slice(0, 2_048)})`;
  if (content.$case === "raw")
    return `(file${name}, ${type.slice(0, 100)}, ${content.value.length} bytes: not taken over)`;
  try {
    return JSON.stringify(content.value) ?? "null";
  } catch {
    return "(data that nests too deep)";
  }
}
