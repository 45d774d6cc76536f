import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { isSessionId, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { Meta } from "./meta.ts";

/** The words of a request's `_meta` about its call. */
export interface CallMeta {
  readonly idempotencyKey: string | undefined;
  /** How long ago the client sent the call first, if it repeats one that it has no answer to. */
  readonly firstSentMsAgo: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly sessionId: string | undefined;
  /** True if the call goes on when its client goes away. */
  readonly goesOn: boolean;
  /** True if the client does not wait for the end. */
  readonly isDetached: boolean;
  readonly hasReadUntrusted: boolean;
}

/** @throws {ProtocolError} that names every fault */
export function readCallMeta(
  meta: Readonly<Record<string, unknown>> = {},
  { maxTimeoutMs }: { readonly maxTimeoutMs: number },
): CallMeta {
  const { [Meta.IdempotencyKey]: idempotencyKey, [Meta.TimeoutMs]: timeoutMs, [Meta.SessionId]: sessionId } = meta;
  const {
    [Meta.AgeMs]: firstSentMsAgo,
    [Meta.OnClose]: onClose = "cancel",
    [Meta.Detached]: isDetached = false,
    [Meta.Untrusted]: hasReadUntrusted = false,
  } = meta;
  const faults: string[] = [];
  if (idempotencyKey !== undefined && !isKey(idempotencyKey))
    faults.push(`_meta["${Meta.IdempotencyKey}"]: expected 1 to 256 visible ASCII characters`);
  if (
    firstSentMsAgo !== undefined &&
    (idempotencyKey === undefined || !(Number.isSafeInteger(firstSentMsAgo) && (firstSentMsAgo as number) >= 0))
  )
    faults.push(
      `_meta["${Meta.AgeMs}"]: expected a whole number of milliseconds, beside _meta["${Meta.IdempotencyKey}"]`,
    );
  if (timeoutMs !== undefined && !isTimeout(timeoutMs, maxTimeoutMs))
    faults.push(`_meta["${Meta.TimeoutMs}"]: expected a whole number from 1 to ${maxTimeoutMs}`);
  if (sessionId !== undefined && !(typeof sessionId === "string" && isSessionId(sessionId)))
    faults.push(`_meta["${Meta.SessionId}"]: expected 1 to 256 visible ASCII characters`);
  if (onClose !== "cancel" && onClose !== "keep") faults.push(`_meta["${Meta.OnClose}"]: expected cancel or keep`);
  if (onClose === "keep" && idempotencyKey === undefined)
    faults.push(
      `_meta["${Meta.OnClose}"]: keep needs _meta["${Meta.IdempotencyKey}"], by which the answer is found again`,
    );
  if (typeof isDetached !== "boolean") faults.push(`_meta["${Meta.Detached}"]: expected true or false`);
  if (typeof hasReadUntrusted !== "boolean") faults.push(`_meta["${Meta.Untrusted}"]: expected true or false`);
  if (faults.length > 0)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Cannot call the tool: ${faults.join("; ")}`, {
      code: ToolErrorCode.InvalidArguments,
    });
  return {
    idempotencyKey,
    firstSentMsAgo,
    timeoutMs,
    sessionId,
    goesOn: onClose === "keep" || isDetached,
    isDetached,
    hasReadUntrusted,
  } as CallMeta;
}

/**
 * Runs a call in the trace that its `_meta` names, in a span of its own; else in the span of the HTTP request that
 * carries it, which says then that it is a call.
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/
 */
export function tracedCall<T>(
  toolName: string,
  { traceparent, tracestate }: Readonly<Record<string, unknown>> = {},
  run: () => Promise<T>,
): Promise<T> {
  const attributes = {
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": toolName,
  };
  const carrying = trace.getActiveSpan();
  if (carrying !== undefined && typeof traceparent !== "string") {
    carrying.setAttributes(attributes);
    return run();
  }
  const parent = propagation.extract(context.active(), { traceparent, tracestate });
  return trace
    .getTracer("@rockbot/mcp")
    .startActiveSpan(`tools/call ${toolName}`, { kind: SpanKind.SERVER, attributes }, parent, async (span) => {
      try {
        return await run();
      } catch (error) {
        const code = error instanceof ToolError ? error.code : ToolErrorCode.ExecutionFailed;
        span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute("error.type", code);
        throw error;
      } finally {
        span.end();
      }
    });
}

const isKey = (value: unknown): boolean => typeof value === "string" && /^[\x21-\x7e]{1,256}$/.test(value);

const isTimeout = (value: unknown, maxMs: number): boolean =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= maxMs;
