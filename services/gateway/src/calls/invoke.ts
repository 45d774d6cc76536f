import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Logger } from "@rockbot/bus";
import { Keep, newId, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { RunStore } from "@rockbot/runs";
import type { ToolCaller } from "@rockbot/tools";
import type { Context } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import type { RefusalLog } from "../door/refusal-log.ts";
import { openEventStream } from "../http/event-stream.ts";
import { answerError, errorBody } from "../http/http-error.ts";
import { readArguments } from "../http/read-body.ts";
import { asToolError } from "./as-tool-error.ts";
import { readCallHeaders } from "./call-headers.ts";
import type { RunningKeys } from "./running-keys.ts";
import { waitsAtStop } from "./waits-at-stop.ts";

export interface InvokeOptions {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** How often a comment is sent on an event stream. */
  readonly keepAliveMs: number;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly keys: RunningKeys;
  readonly refusals: RefusalLog | undefined;
  /** Has the calls that wait for people, or run detached. */
  readonly runs: RunStore | undefined;
  /** Aborts when the process stops and running calls are not waited for any longer. */
  readonly signal: AbortSignal | undefined;
  readonly log: Logger;
}

/** A call of an operator, who makes it as the caller that the context names. */
export interface OperatorCall {
  readonly operator: string;
  /** A call to make again. @default the one that the request describes */
  readonly again?: { readonly toolName: string; readonly args: string; readonly hasReadUntrusted: boolean } | undefined;
}

/**
 * Answers `POST …/tools/{name}/invoke`: one tool call, cancelled when the client's connection closes unless it asked
 * otherwise.
 */
// Long because: all forms of the answer share what ends a call
export function invoke(
  caller: ToolCaller,
  { timeoutMs, maxTimeoutMs, keepAliveMs, headers, keys, refusals, runs, signal, log }: InvokeOptions,
) {
  /** What ends the waits for calls when this process stops: one listener for all of them. */
  const waits = new Set<(reason: unknown) => void>();
  signal?.addEventListener("abort", () => waits.forEach((end) => void end(signal.reason)), { once: true });
  /** Ends only the wait: a call with a key outlives this process, and its client asks for it again. */
  async function untilStop<T>(work: Promise<T>): Promise<T> {
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    waits.add(reject);
    try {
      return await Promise.race([work, stopped]);
    } finally {
      waits.delete(reject);
    }
  }

  // Long because: as above
  return async (c: Context<GatewayEnv>, { operator, again }: Partial<OperatorCall> = {}): Promise<Response> => {
    const { incoming, outgoing } = c.env;
    const toolName = again?.toolName ?? c.req.param("name") ?? "";
    const onBehalfOf = c.get("caller");
    const hasKey = incoming.headers["idempotency-key"] !== undefined;
    const receivedAt = performance.now();
    let args: object | string | undefined;
    let isSent = false;
    const failed = async (error: unknown): Promise<ToolError> => {
      const waiting = signal?.aborted && isSent && (await waitsAtStop(caller, call, { by: onBehalfOf, runs }));
      const toolError = waiting || asToolError(error, toolName, { caller, isSent, signal, log });
      if (!isSent)
        await refusals?.call({
          ...call,
          caller: onBehalfOf ?? caller.agent,
          operator,
          args,
          error: toolError,
          receivedAt,
        });
      return toolError;
    };
    let call = { toolCallId: newId(), toolName: toolName.slice(0, 256) };
    const gone = new AbortController();
    const cancel = (reason: unknown): void => gone.abort(reason);
    try {
      if (toolName.length > 256)
        throw new ToolError(
          ToolErrorCode.ToolNotFound,
          "Cannot call the tool: no tool has a name of more than 64 characters",
        );
      const { toolCallId, sessionId, ...asked } = readCallHeaders((name) => textOf(incoming.headers[name]), {
        timeoutMs,
        maxTimeoutMs,
        caller: keyOwner(onBehalfOf ?? caller.agent, operator) ?? onBehalfOf,
      });
      call = { toolCallId, toolName };
      args = again?.args ?? readArguments(c.get("body"), incoming.headers);
      using _key = hasKey ? keys.hold(toolCallId, toolName) : undefined;

      outgoing.once("close", () => {
        if (!outgoing.writableFinished)
          gone.abort(
            new ToolError(
              ToolErrorCode.Cancelled,
              `Cannot finish the call of "${toolName}": the client closed the connection`,
            ),
          );
      });
      const options = {
        toolCallId,
        isNew: !hasKey,
        timeoutMs: asked.timeoutMs,
        firstSentMsAgo: asked.firstSentMsAgo,
        sessionId,
        hasReadUntrusted: asked.hasReadUntrusted || again?.hasReadUntrusted === true,
        onBehalfOf,
        operator,
        // Who has the key, or the address, may come back for the end.
        keep: asked.isDetached ? Keep.Detached : hasKey ? Keep.IfParked : undefined,
        keepAnswer: hasKey,
        isSentAgain: hasKey,
        onSent: () => {
          isSent = true;
        },
        // A call that goes on without its client is left for the next gateway, if there is a journal.
        signal: asked.goesOn || asked.isDetached ? undefined : gone.signal,
      };
      if (!asked.goesOn && !asked.isDetached && !hasKey) waits.add(cancel);
      if (signal?.aborted) gone.abort(signal.reason);
      const waitFor = <T>(work: Promise<T>): Promise<T> => (hasKey ? untilStop(work) : work);
      if (!accepts(incoming.headers.accept, "text/event-stream"))
        return sendJson(outgoing, await waitFor(caller.call(toolName, args, options)));

      const events = openEventStream(outgoing, { keepAliveMs, headers });
      try {
        events.end(
          "result",
          await waitFor(
            caller.call(toolName, args, {
              ...options,
              onProgress: (update) => events.send("progress", { ...call, ...update }),
            }),
          ),
        );
      } catch (error) {
        events.end("error", errorBody(await failed(error), call));
      }
      return RESPONSE_ALREADY_SENT;
    } catch (error) {
      return answerError(c, await failed(error), call);
    } finally {
      waits.delete(cancel);
    }
  };
}

/** An operator's Idempotency-Key is never that of the caller itself. @returns undefined if no operator asks */
export const keyOwner = (caller: string, operator: string | undefined): string | undefined =>
  operator === undefined ? undefined : `${caller} by the operator ${operator}`;

/**
 * Answers past the Response of the web, which is another object with another stream. Its head has the headers of every
 * answer by then. As text the body goes out in one write with the head.
 */
function sendJson(outgoing: ServerResponse, value: unknown): Response {
  const body = JSON.stringify(value);
  outgoing.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body);
  return RESPONSE_ALREADY_SENT;
}

/** A header as one text. Node's own are read, as the Headers of the web would be made anew for each request. */
const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === "object" ? header.join(", ") : header;

/** Tells whether an Accept header names the media type itself; `*` does not ask for it. */
const accepts = (header: string | undefined, type: string): boolean =>
  (header ?? "").split(",").some((part) => part.split(";", 1)[0]?.trim().toLowerCase() === type);
