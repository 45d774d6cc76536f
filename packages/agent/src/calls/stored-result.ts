import { type ContentTrust, definedBy, type ToolError, type ToolInvokeResponse } from "@rockbot/contracts";
import { toolOutputIn } from "@rockbot/memory";
import type { StoredResult } from "../store/turn-store.ts";

/** A result may have so many characters in the store and for the model, if no size layer has made it smaller. */
const MAX_RESULT_LENGTH = 256 * 1024;
/** A response as the model reads it. */
export function storedResponse({ content, structured, isError = false, trust }: ToolInvokeResponse): StoredResult {
  const text = content ?? (structured === undefined ? "" : JSON.stringify(structured));
  const whole = text === "" ? "(the tool gave no output)" : text;
  const kept =
    whole.length <= MAX_RESULT_LENGTH
      ? whole
      : `${whole.slice(0, MAX_RESULT_LENGTH)}\n[result truncated — ${whole.length - MAX_RESULT_LENGTH} chars omitted]`;
  const toolOutput = toolOutputIn(structured);
  return { content: kept, isError, ...taintBy(trust), ...(toolOutput === undefined ? {} : { toolOutput }) };
}

/** A response as the next step of a pipeline reads it: with its value, unless that is too large to keep. */
export function storedValue(response: ToolInvokeResponse): StoredResult {
  const { content, structured } = response;
  const stored = { ...storedResponse(response), ...(content === "" ? { content } : {}) };
  return structured == null || JSON.stringify(structured).length > MAX_RESULT_LENGTH
    ? stored
    : { ...stored, structured };
}

/** An error as the model reads it. */
export function storedError({ code, message, retryAfterMs, trust }: ToolError): StoredResult {
  const when = retryAfterMs === undefined ? "" : ` (not before ${Math.ceil(retryAfterMs / 1000)} s from now)`;
  return { content: `${code}: ${message}${when}`, isError: true, ...taintBy(trust) };
}

/** Whose words something is, as the store has it. */
export type Taint = Pick<StoredResult, "isUntrusted" | "isApproved" | "origin">;

/** The taint that a response's trust stands for. */
export function taintBy(trust: ContentTrust | undefined): Taint {
  const isUntrusted = trust?.level === "untrusted";
  return {
    isUntrusted,
    ...(isUntrusted && trust.isApproved ? { isApproved: true } : {}),
    ...(trust == null ? {} : { origin: trust.origin }),
  };
}

/** The trust that a taint stands for, as a response has it; undefined if it is not untrusted. */
export const trustIn = ({ isUntrusted, isApproved = false, origin = "" }: Taint): ContentTrust | undefined =>
  isUntrusted ? definedBy(origin, isApproved) : undefined;
