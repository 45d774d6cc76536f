import { isRecord } from "@rockbot/base";
import { parseJson, saidBy, ToolError, ToolErrorCode, visibleText } from "@rockbot/contracts";

export interface HttpFailure {
  /** The method and the address, without its query. */
  readonly what: string;
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** The answer's body as text, if it is one. */
  readonly text: string | undefined;
  readonly hasEffects: boolean;
}

const MAX_SAID = 500;

/** The error that a status of 400 and more is, with the server's own words. */
export function httpError({ what, status, retryAfterMs, text, hasEffects }: HttpFailure): ToolError {
  const said = saidIn(text);
  const words = `"${what}" was answered with status ${status}${said === undefined ? "" : `. The server's words: ${JSON.stringify(said)}`}`;
  const more = { details: { status }, ...(said === undefined ? {} : { trust: saidBy(what) }) };
  if (status === 429)
    return new ToolError(ToolErrorCode.RateLimited, `${words}. Wait before you try again.`, { retryAfterMs, ...more });
  if (status === 401 || status === 403)
    return new ToolError(
      ToolErrorCode.Denied,
      `${words}. The credential is missing, wrong, or has no right to this: an operator has to check it.`,
      more,
    );
  if (status === 400 || status === 422)
    return new ToolError(ToolErrorCode.InvalidArguments, `${words}. Correct the arguments.`, more);
  if (status === 408 || status === 425 || status === 503)
    return new ToolError(ToolErrorCode.Unavailable, `${words}. Try again later.`, { retryAfterMs, ...more });
  if (status >= 500 && hasEffects)
    return new ToolError(
      ToolErrorCode.OutcomeUnknown,
      `${words}. It may have been carried out all the same: find out before you send it again.`,
      more,
    );
  if (status >= 500)
    return new ToolError(ToolErrorCode.Unavailable, `${words}. Try again later.`, { retryAfterMs, ...more });
  return new ToolError(ToolErrorCode.ExecutionFailed, `${words}.`, more);
}

/** What a body says of the failure: where APIs have it, RFC 9457 included, else its beginning. */
function saidIn(text: string | undefined): string | undefined {
  const clean = visibleText(text ?? "").trim();
  if (clean === "" || /^<(?:!doctype|html|\?xml)/i.test(clean)) return undefined;
  const parsed = parseJson(clean);
  const said = parsed.ok ? (wordsOf(parsed.value) ?? clean) : clean;
  return said.length > MAX_SAID ? `${said.slice(0, MAX_SAID)}…` : said;
}

function wordsOf(value: unknown, depth = 0): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (Array.isArray(value)) return depth > 3 ? undefined : wordsOf(value[0], depth + 1);
  if (!isRecord(value) || depth > 3) return undefined;
  const { title, detail } = value;
  if (typeof title === "string" && typeof detail === "string") return `${title}: ${detail}`;
  for (const name of ["message", "error_description", "detail", "error", "errors", "title", "reason", "Message"]) {
    const words = Object.hasOwn(value, name) ? wordsOf(value[name], depth + 1) : undefined;
    if (words !== undefined) return words;
  }
  return undefined;
}
