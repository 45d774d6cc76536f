import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Logger } from "@rockbot/bus";
import { newId, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import type { Context } from "hono";
import { readCallHeaders } from "./call-headers.ts";
import { openEventStream } from "./event-stream.ts";
import type { GatewayEnv } from "./guard.ts";
import { answerError, errorBody, HttpErrorCode } from "./http-error.ts";
import { readArguments } from "./read-body.ts";

export interface InvokeOptions {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** How often a comment is sent on an event stream. */
  readonly keepAliveMs: number;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborts when the process stops and running calls are not waited for any longer. */
  readonly signal: AbortSignal | undefined;
  readonly log: Logger;
}

/** Answers `POST /v1/tools/{name}/invoke`: one tool call, cancelled when the client's connection closes unless it asked otherwise. */
export function invoke(caller: ToolCaller, { timeoutMs, maxTimeoutMs, keepAliveMs, headers, signal, log }: InvokeOptions) {
  /** The calls that run under a key of the client's choice. */
  const keyed = new Set<string>();
  return async (c: Context<GatewayEnv, "/v1/tools/:name/invoke">): Promise<Response> => {
    const { incoming, outgoing } = c.env;
    const toolName = c.req.param("name");
    const onBehalfOf = c.get("caller");
    const hasKey = c.req.header("idempotency-key") !== undefined;
    let call = { toolCallId: newId(), toolName: toolName.slice(0, 256) };
    try {
      if (toolName.length > 256) throw new ToolError(ToolErrorCode.ToolNotFound, "Cannot call the tool: no tool has a name of more than 64 characters");
      const { toolCallId, sessionId, ...asked } = readCallHeaders((name) => c.req.header(name), { timeoutMs, maxTimeoutMs, caller: onBehalfOf });
      call = { toolCallId, toolName };
      const args = await readArguments(incoming);
      if (hasKey && keyed.has(toolCallId)) {
        throw new ToolError(
          HttpErrorCode.Conflict,
          `Cannot call "${toolName}" a second time: a call with this Idempotency-Key still runs. Wait for it to end`,
          { isRetryable: true, retryAfterMs: 1000 },
        );
      }
      using _key = hasKey ? noted(keyed, toolCallId) : undefined;

      const gone = new AbortController();
      outgoing.once("close", () => {
        if (!outgoing.writableFinished)
          gone.abort(new ToolError(ToolErrorCode.Cancelled, `Cannot finish the call of "${toolName}": the client closed the connection`));
      });
      const options = {
        toolCallId,
        timeoutMs: asked.timeoutMs,
        sessionId,
        onBehalfOf,
        keepAnswer: hasKey,
        // A call that goes on without its client is left for the next gateway, if there is a journal.
        signal: asked.goesOn ? undefined : signal === undefined ? gone.signal : AbortSignal.any([gone.signal, signal]),
      };
      if (!accepts(c.req.header("accept"), "text/event-stream")) return c.json(await caller.call(toolName, args, options));

      const events = openEventStream(outgoing, { keepAliveMs, headers });
      try {
        events.end("result", await caller.call(toolName, args, { ...options, onProgress: (update) => events.send("progress", { ...call, ...update }) }));
      } catch (error) {
        events.end("error", errorBody(asToolError(error, toolName, { signal, log }), call));
      }
      return RESPONSE_ALREADY_SENT;
    } catch (error) {
      return answerError(c, asToolError(error, toolName, { signal, log }), call);
    }
  };
}

/** A call that ended because this process stops is not the client's doing: another gateway may answer it. */
function asToolError(error: unknown, toolName: string, { signal, log }: Pick<InvokeOptions, "signal" | "log">): ToolError {
  if (error instanceof ToolError && !(signal?.aborted && error.code === ToolErrorCode.Cancelled)) return error;
  if (signal?.aborted) {
    return new ToolError(ToolErrorCode.Unavailable, `Cannot finish the call of "${toolName}": the gateway is stopping. The tool may have run`, {
      details: { mayHaveRun: true },
    });
  }
  log.error({ err: error }, "a call failed in the gateway");
  return new ToolError(ToolErrorCode.ExecutionFailed, `Cannot call "${toolName}": the gateway failed. Its log says why`);
}

/** Holds `value` in the set until disposed. */
function noted(set: Set<string>, value: string): Disposable {
  set.add(value);
  return { [Symbol.dispose]: () => set.delete(value) };
}

/** Whether an Accept header names the media type itself; `*` does not ask for it. */
const accepts = (header: string | undefined, type: string): boolean =>
  (header ?? "").split(",").some((part) => part.split(";", 1)[0]?.trim().toLowerCase() === type);
