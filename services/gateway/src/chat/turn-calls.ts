import { unlessAborted } from "@rockbot/base";
import { type ToolInvokeResponse, tools } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import { asToolError } from "../calls/as-tool-error.ts";
import type { InvokeOptions } from "../calls/invoke.ts";
import type { ChatHeaders } from "./chat-headers.ts";
import { noModel } from "./models.ts";
import { orNoAgent } from "./no-agent.ts";
import type { ChatRequest } from "./read-chat-request.ts";
import { RunningTurns, type TurnVisit } from "./running-turns.ts";

/** A turn that a request asks for. */
export interface Turn {
  readonly by: string | undefined;
  /** The operator who asks as that caller. @default the caller itself asks */
  readonly operator?: string | undefined;
  readonly headers: ChatHeaders;
  readonly request: ChatRequest;
}

/** Makes the calls of turns, on behalf of the callers of requests. */
export class TurnCalls {
  readonly #caller: ToolCaller;
  readonly #options: Pick<InvokeOptions, "keys" | "refusals" | "signal" | "log">;
  readonly #running = new RunningTurns();

  constructor(caller: ToolCaller, options: Pick<InvokeOptions, "keys" | "refusals" | "signal" | "log">) {
    this.#caller = caller;
    this.#options = options;
  }

  /** Joins the turn, or starts it. @throws {ToolError} `conflict` if another runs under its key */
  visit({ by, operator, headers, request: { input } }: Turn): TurnVisit {
    const { toolCallId, goesOn } = headers;
    const visited = this.#running.visit({ toolCallId, by, input, goesOn }, (gone) =>
      this.#call({ by, operator }, headers, input, gone),
    );
    return { ...visited, result: this.#whileHere(visited.result) };
  }

  async #call(
    { by, operator }: Pick<Turn, "by" | "operator">,
    { toolCallId, timeoutMs, goesOn, hasKey, hasReadUntrusted }: ChatHeaders,
    input: ChatRequest["input"],
    gone: AbortSignal,
  ): Promise<ToolInvokeResponse> {
    const { keys, refusals, signal } = this.#options;
    const receivedAt = performance.now();
    let isSent = false;
    const onSent = () => {
      isSent = true;
    };
    // A turn that goes on without its client is left for the next gateway, if there is a journal.
    const ends = signal === undefined || goesOn ? gone : AbortSignal.any([gone, signal]);
    try {
      using _key = hasKey ? keys.hold(toolCallId, TOOL) : undefined;
      const keepAnswer = hasKey || goesOn;
      const about = { toolCallId, timeoutMs, onBehalfOf: by, operator, hasReadUntrusted };
      const again = { keepAnswer, isSentAgain: keepAnswer };
      return await this.#caller.call(TOOL, input, { ...about, ...again, signal: ends, onSent });
    } catch (error) {
      const failed = orNoAgent(
        asToolError(error, TOOL, { ...this.#options, caller: this.#caller, isSent }),
        this.#caller,
      );
      const toolError = failed.details?.["reason"] === "model_not_found" ? noModel(input.model ?? "") : failed;
      if (!isSent)
        await refusals?.call({
          caller: by ?? this.#caller.agent,
          operator,
          toolName: TOOL,
          toolCallId,
          args: input,
          error: toolError,
          receivedAt,
        });
      throw toolError;
    }
  }

  /** A turn that goes on is not waited for when this process stops. */
  async #whileHere(result: Promise<ToolInvokeResponse>): Promise<ToolInvokeResponse> {
    const { signal } = this.#options;
    if (signal === undefined) return await result;
    try {
      return await unlessAborted(result, signal);
    } catch (error) {
      throw asToolError(error, TOOL, { ...this.#options, caller: this.#caller, isSent: true });
    }
  }
}

const { name: TOOL } = tools.agentChat;
