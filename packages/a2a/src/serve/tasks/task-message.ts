import { type Message, Role, type Task, TaskState } from "@a2a-js/sdk";
import type { StoredTask, TaskStanding } from "../store/task-store.ts";

const STATES: Readonly<Record<TaskStanding, TaskState>> = {
  working: TaskState.TASK_STATE_WORKING,
  "input-required": TaskState.TASK_STATE_INPUT_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
  rejected: TaskState.TASK_STATE_REJECTED,
};

export const stateOf = ({ standing }: Pick<StoredTask, "standing">): TaskState => STATES[standing];

const textPart = (value: string) => ({
  content: { $case: "text" as const, value },
  metadata: undefined,
  filename: "",
  mediaType: "text/plain",
});

/** The agent's words on a task. */
export const wordsOf = (
  { id, contextId }: Pick<StoredTask, "id" | "contextId">,
  text: string,
  messageId: string,
): Message => ({
  messageId,
  contextId,
  taskId: id,
  role: Role.ROLE_AGENT,
  parts: [textPart(text)],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});

/** The agent's question at the end of a turn. */
const questionOf = (task: StoredTask, turnId: string, question: string): Message =>
  wordsOf(task, question, `${turnId}-question`);

export const statusOf = (task: StoredTask): NonNullable<Task["status"]> => ({
  state: stateOf(task),
  message:
    task.standing === "input-required"
      ? questionOf(task, task.turnId, task.answer)
      : task.why === undefined
        ? undefined
        : wordsOf(task, task.why, `${task.id}-end`),
  timestamp: new Date(task.updatedAt).toISOString(),
});

/** The result, of which a stream sends pieces before. */
export const answerOf = (text: string): Task["artifacts"][number] => ({
  artifactId: "answer",
  name: "answer",
  description: "",
  parts: [textPart(text)],
  metadata: undefined,
  extensions: [],
});

export interface TaskMessageOptions {
  /** How much of the history the client wants; all when left out. */
  readonly historyLength?: number | undefined;
  /** @default true */
  readonly hasArtifacts?: boolean | undefined;
}

/** The task as A2A has it. */
export function taskMessage(task: StoredTask, { historyLength, hasArtifacts = true }: TaskMessageOptions = {}): Task {
  const said = (text: string, messageId: string): Message => ({
    ...wordsOf(task, text, messageId),
    role: Role.ROLE_USER,
  });
  const earlier = task.earlier
    .filter(({ asked }) => asked !== "")
    .flatMap(({ turnId, messageId, asked, question }) => [said(asked, messageId), questionOf(task, turnId, question)]);
  const history = [...earlier, said(task.asked, task.messageId)];
  return {
    id: task.id,
    contextId: task.contextId,
    status: statusOf(task),
    artifacts: hasArtifacts && task.standing === "completed" ? [answerOf(task.answer)] : [],
    history: historyLength === undefined ? history : history.slice(Math.max(0, history.length - historyLength)),
    // Strangers' words may be in it.
    metadata: task.isUntrusted ? { "rockbot/untrusted": true } : undefined,
  };
}
