import { type CallToolResult, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { isRecord, pause } from "@rockbot/base";
import { ToolError } from "@rockbot/contracts";
import { AskedError } from "@rockbot/tools";
import { cleanText } from "../../text/clean-text.ts";
import type { McpCallOptions, TaskMethod } from "../connect-mcp.ts";
import { NO_ANSWER_CODE } from "../incoming/mend-answers.ts";
import { readableResult } from "../incoming/readable-result.ts";
import { answersTo } from "./questions.ts";

const MIN_POLL_MS = 250;
const MAX_POLL_MS = 30_000;
const DEFAULT_POLL_MS = 1_000;
/** A server that does not answer for so long has lost the task. */
const MAX_SILENCE_MS = 10 * 60_000;
const MAX_STATUS = 500;

export interface FollowTaskOptions extends Pick<McpCallOptions, "signal" | "onProgress" | "ask"> {
  /** Asks the server, within a bounded time. */
  readonly request: (method: TaskMethod, params: object, signal?: AbortSignal) => Promise<unknown>;
  readonly wait?: ((wait: () => Promise<void>) => Promise<void>) | undefined;
}

/**
 * Follows a server's task to its end, and answers what it asks. If nobody wants the end any more, the server is asked to
 * cancel the task. A service that stops, and a question, leave it to the one that takes the call up.
 * @throws {ProtocolError} if it has no result, or its end cannot be learnt; what `ask` throws; the signal's reason
 */
export async function followTask(taskId: string, options: FollowTaskOptions): Promise<CallToolResult> {
  const { signal, request } = options;
  try {
    const end = await untilEnd(taskId, options);
    if (end instanceof Error) throw end;
    return readableResult(end) as CallToolResult;
  } catch (error) {
    const isLeft = signal.aborted ? !(signal.reason instanceof ToolError) : error instanceof AskedError;
    const hasEnded = !signal.aborted && error instanceof ProtocolError;
    if (!isLeft && !hasEnded) await request("tasks/cancel", { taskId }).catch(() => {}); // it is away, and nobody waits
    signal.throwIfAborted();
    throw error;
  }
}

/** Asks for the task until it has ended. @returns its result, or why it has none */
async function untilEnd(
  taskId: string,
  { signal, request, onProgress, ask, wait = (paused) => paused() }: FollowTaskOptions,
): Promise<Readonly<Record<string, unknown>> | Error> {
  const answered = new Set<string>();
  let heardAt = performance.now();
  let said = "";
  for (let changes = 0; ; ) {
    const task: unknown = await request("tasks/get", { taskId }, signal).catch((error: unknown) => error);
    signal.throwIfAborted();
    if (task instanceof ProtocolError) return lost(task.message);
    if (!(task instanceof Error)) heardAt = performance.now();
    else if (performance.now() - heardAt > MAX_SILENCE_MS) return lost("the server does not answer any more");
    const view = isRecord(task) && !(task instanceof Error) ? task : {};
    const end = endOf(view);
    if (end !== undefined) return end;
    const words = typeof view["statusMessage"] === "string" ? cleanText(view["statusMessage"], MAX_STATUS) : said;
    if (words !== said) onProgress({ progress: ++changes, message: words });
    said = words;
    const inputResponses = await answersOf(view["inputRequests"], { taskId, answered, ask });
    const keys = Object.keys(inputResponses);
    const isTold =
      keys.length > 0 &&
      (await request("tasks/update", { taskId, inputResponses }, signal).then(
        () => true,
        () => false,
      ));
    if (isTold) for (const key of keys) answered.add(key);
    await wait(() => pause(pollOf(view["pollIntervalMs"]), signal));
  }
}

/** How a task ended, if it has. */
function endOf({
  status,
  result,
  error,
}: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | Error | undefined {
  switch (status) {
    case "completed":
      return isRecord(result) ? result : lost("the server has ended it, and gives no result");
    case "failed": {
      const { code, message, data } = isRecord(error) ? error : {};
      return ProtocolError.fromError(
        Number.isSafeInteger(code) ? Number(code) : ProtocolErrorCode.InternalError,
        String(message),
        data,
      );
    }
    case "cancelled":
      return new ProtocolError(ProtocolErrorCode.InternalError, "the task was cancelled");
    default:
      return undefined; // a state that the protocol does not have may be followed by another
  }
}

/** The answers to what the task asks and was not told yet. @throws what ends the call */
async function answersOf(
  asked: unknown,
  {
    taskId,
    answered,
    ask,
  }: Pick<FollowTaskOptions, "ask"> & { readonly taskId: string; readonly answered: Set<string> },
): Promise<object> {
  const answers = {};
  for (const [key, one] of Object.entries(isRecord(asked) ? asked : {})) {
    if (answered.has(key)) continue;
    const round = answered.size + Object.keys(answers).length;
    // Its key names a question for as long as the task lasts, and the ones before are gone when the next comes.
    const askKeyed: McpCallOptions["ask"] = ask && ((question) => ask({ ...question, key: `${taskId} ${key}` }));
    Object.assign(answers, await answersTo({ [key]: one }, askKeyed, round));
  }
  return answers;
}

const pollOf = (ms: unknown): number =>
  typeof ms === "number" && ms >= 0 ? Math.min(Math.max(ms, MIN_POLL_MS), MAX_POLL_MS) : DEFAULT_POLL_MS;

/** Its end is not known. */
const lost = (why: string): ProtocolError => new ProtocolError(NO_ANSWER_CODE, why);
