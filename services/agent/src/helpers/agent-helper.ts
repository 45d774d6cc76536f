import { hash } from "node:crypto";
import { type Agent, type TurnRequest, type TurnResult, usageMessage } from "@rockbot/agent";
import { pause } from "@rockbot/base";
import { saidBy, type ToolAgentHelperInput, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { MemoryFullError } from "@rockbot/memory";
import { StoreUnavailableError } from "@rockbot/records";
import { defineTool, type ResumableCallContext, type Tool } from "@rockbot/tools";
import type { OnUnasked } from "../chat/agent-chat.ts";
import { TurnMetrics } from "../chat/turn-metrics.ts";
import { type HelperMessages, helperSession } from "./helper-messages.ts";
import { type HelperRecords, MAX_RESULT } from "./helper-records.ts";

export interface AgentHelperOptions {
  readonly records: HelperRecords;
  readonly messages: Pick<HelperMessages, "result">;
  readonly onUnasked: OnUnasked;
}

/** What tells of a helper needs. */
export type HelperInput = Pick<ToolAgentHelperInput, "task_id" | "session_id" | "root_session_id" | "description">;

/** Options of the turn by which a session reads a result. */
export interface ToldOptions
  extends Pick<TurnRequest, "caller" | "hasReadUntrusted" | "signal" | "deadline" | "withoutPlace" | "parent"> {
  readonly toolCallId: string;
  readonly failure?: string | undefined;
}

/** A helper that is cancelled is stopped within this time, wherever it runs. */
const LOOK_MS = 1_000;
/** The share of its call's time that a helper leaves for the session's turn: a fifth, at most so much. */
const MAX_RESERVE_MS = 120_000;

/**
 * `agent__helper` runs a helper's turn, then a turn of its parent session with the result. The request stays in the
 * queue until both have ended. So a helper outlives its process, and a process that takes it up does neither of them
 * twice.
 */
export function agentHelper(agent: Pick<Agent, "isToBlame">, run: HelperRun): Tool {
  return defineTool(
    tools.agentHelper,
    async (input, context) => {
      const result = await run.work(input, context);
      const state = await run.note(input, context, result);
      if (state !== "cancelled") await run.tellParent(input, context, result);
      return {
        content: result.text,
        structured: { task_id: input.task_id, state, usage: usageMessage(result.usage) },
        isError: state !== "done",
        trust: result.hasReadUntrusted ? saidBy("agent") : { level: "system", origin: "agent" },
      };
    },
    {
      isResumable: true,
      waitsForClaims: true, // its session was told that it has started
      leavesPlace: true,
      isToBlame({ toolCallId: turnId, arguments: args }, caller) {
        const { task_id: taskId } = JSON.parse(args ?? "{}") as ToolAgentHelperInput;
        return agent.isToBlame({ caller, sessionId: helperSession(taskId), turnId });
      },
    },
  );
}

/** How often a store that is away is asked. */
const ASK_MS = 500;

/** Does a step of a helper again while a store is away, until its deadline. @throws what says that it stays so */
export async function patiently<T>(
  { signal, deadline }: Pick<ResumableCallContext, "signal" | "deadline">,
  step: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      const isAway =
        error instanceof StoreUnavailableError ||
        (error instanceof ToolError && error.code === ToolErrorCode.Unavailable);
      if (!isAway || signal.aborted || performance.now() >= deadline - ASK_MS) throw error;
      await pause(ASK_MS, signal);
    }
  }
}

/** The call of a helper. */
export const helperCallOf = (caller: string, taskId: string): string =>
  hash("sha256", JSON.stringify(["helper", caller, taskId]), "hex").slice(0, 32);

/** The steps of one helper. Each may be done again by another process, and changes nothing then. */
export class HelperRun {
  readonly #agent: Pick<Agent, "runTurn">;
  readonly #options: AgentHelperOptions;
  readonly #metrics = new TurnMetrics();

  constructor(agent: Pick<Agent, "runTurn">, options: AgentHelperOptions) {
    this.#agent = agent;
    this.#options = options;
  }

  /** The helper's own turn. */
  async work(input: ToolAgentHelperInput, context: ResumableCallContext): Promise<TurnResult> {
    const {
      task_id: taskId,
      root_session_id: rootSessionId,
      description,
      context: more,
      timeout_minutes: minutes,
    } = input;
    const { caller, toolCallId: turnId, hasReadUntrusted } = context;
    const { records } = this.#options;
    await patiently(context, () => records.change(caller, rootSessionId, taskId, { state: "running" }));
    const cancel = new AbortController();
    const isCancelled = async (): Promise<void> => {
      const record = await records.get(caller, rootSessionId, taskId).catch(() => undefined);
      if (record?.state === "cancelled")
        cancel.abort(new ToolError(ToolErrorCode.Cancelled, "The helper was cancelled."));
    };
    await isCancelled();
    const reserveMs = Math.min(MAX_RESERVE_MS, (context.deadline - performance.now()) / 5);
    const looking = setInterval(() => void isCancelled(), LOOK_MS);
    using _looking = { [Symbol.dispose]: () => clearInterval(looking) };
    const request: TurnRequest = {
      caller,
      sessionId: helperSession(taskId),
      rootSessionId,
      turnId,
      origin: "helper",
      message: more === undefined ? description : `${description}\n\nWhat you have to know besides:\n${more}`,
      hasReadUntrusted,
      signal: AbortSignal.any([context.signal, cancel.signal]),
      deadline: Math.min(context.deadline - reserveMs, performance.now() + minutes * 60_000),
      parent: context,
      withoutPlace: context.withoutPlace,
    };
    return await this.#metrics.measure("helper", () => patiently(request, () => this.#agent.runTurn(request)));
  }

  /** Keeps how it ended, and tells programs on the bus. One that was cancelled meanwhile stays so. */
  async note(
    input: ToolAgentHelperInput,
    context: ResumableCallContext,
    result: TurnResult,
  ): Promise<"done" | "failed" | "cancelled"> {
    const { task_id: taskId, session_id: sessionId, root_session_id: rootSessionId } = input;
    const { caller } = context;
    const { text, finish, reason = finish, hasReadUntrusted: isUntrusted } = result;
    const { records, messages } = this.#options;
    const state = finish === "failed" || finish === "refused" ? "failed" : "done";
    const keep = async (kept: string) => {
      const ended = { state, endedAt: Date.now(), result: kept, isUntrusted } as const;
      const known = await records.change(caller, rootSessionId, taskId, ended);
      if (known !== undefined) return known;
      // A memory that has lost it: its session reads the result there.
      await records.add(caller, rootSessionId, {
        taskId,
        description: input.description.slice(0, 200).toWellFormed(),
        startedAt: Date.now(),
        ...ended,
      });
      return undefined;
    };
    const record = await patiently(context, () => keep(text.slice(0, MAX_RESULT).toWellFormed())).catch(
      (error: unknown) => {
        if (!(error instanceof MemoryFullError)) throw error;
        return keep(`Its result is not kept: ${error.message}`.slice(0, 500)).catch(() => undefined); // the session is told all the same
      },
    );
    const isCancelled = record?.state === "cancelled";
    await messages.result(
      { taskId, sessionId },
      text,
      isCancelled ? "cancelled" : state === "failed" ? reason : undefined,
    );
    return isCancelled ? "cancelled" : state;
  }

  /** A turn of the session that has started it. The result itself stands beside the message, as `helpers` says. */
  async tellParent(
    input: ToolAgentHelperInput,
    context: ResumableCallContext,
    { finish, reason, hasReadUntrusted }: TurnResult,
  ): Promise<void> {
    const how = reason === undefined ? "" : ` (${finish}: ${reason})`;
    const { caller, toolCallId, signal, deadline, withoutPlace } = context;
    const about = { caller, toolCallId, hasReadUntrusted, signal, deadline, withoutPlace, parent: context };
    await this.#tell(input, `${how}, and its result stands beside this message`, about);
  }

  /** The same for a helper whose call has ended in an error, so that nobody else tells of it. */
  async tellFailure(input: HelperInput, failure: string, about: Omit<ToldOptions, "failure">): Promise<void> {
    await this.#tell(input, " without a result, as its call has failed", { ...about, failure });
  }

  async #tell(
    { task_id: taskId, session_id: sessionId, root_session_id: rootSessionId, description }: HelperInput,
    how: string,
    { toolCallId, failure, ...about }: ToldOptions,
  ): Promise<void> {
    const turnId = hash("sha256", JSON.stringify(["told", toolCallId]), "hex").slice(0, 32);
    const why = failure === undefined ? "" : `\n\nThe error: ${failure}`;
    const message = `Your helper ${taskId} has ended${how}. Its task was: ${description.slice(0, 200).toWellFormed()}${why}`;
    const request: TurnRequest = { ...about, sessionId, rootSessionId, turnId, origin: "helper", message };
    const answer = await this.#metrics.measure("helper", () => patiently(request, () => this.#agent.runTurn(request)));
    await this.#options.onUnasked(about.caller, sessionId, turnId, answer.text);
  }
}
