import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { Redactor } from "@rockbot/base/redaction";
import {
  MCP_BRIDGE,
  saidBy,
  ToolError,
  ToolErrorCode,
  type ToolErrorOptions,
  timeoutError,
  UncarriableError,
} from "@rockbot/contracts";
import { cleanText } from "../../text/clean-text.ts";
import { dataText } from "../../text/data-text.ts";
import { NO_ANSWER_CODE, UNREADABLE_CODE } from "../incoming/mend-answers.ts";
import { AnswerTooLongError, codeOf, HttpRefusalError } from "../remote/bounded-fetch.ts";
import { TOO_LONG_CODE } from "../stdio/stdio-transport.ts";
import { NotSentError } from "./not-sent-error.ts";

const FIND_OUT = "It may have had effects: find out before you call it again.";
const OPERATOR = "Only the operator can mend that.";
/** Another address is to be asked instead. 303 is none of them: it names where the answer of what was done lies. */
const MOVED: ReadonlySet<number> = new Set([301, 302, 307, 308]);
/** Statuses that a server in between may answer with, too, to a request that it passed on. */
const UNCLEAR: ReadonlySet<number> = new Set([408, 499]);
/** Said of what quotes nobody, as a reader cannot tell by its code. */
const OUR_WORDS = { level: "system", origin: MCP_BRIDGE } as const;
const MAX_SAID = 500;
/** The most characters of an error's data. */
const MAX_DATA = 2_000;
/** The server wants its user to open an address first. */
const URL_ELICITATION_REQUIRED = -32_042;
/** A session that the server does not know any more. */
const NO_SESSION = 404;
/** Statuses by which servers say the same, if their words name the session. */
const NO_NAMED_SESSION: ReadonlySet<number> = new Set([400, 410]);
/**
 * Statuses by which servers say the same, and other things. A server that is out of service for now, or one in between,
 * has forgotten nothing.
 */
const MAYBE_NO_SESSION: ReadonlySet<number> = new Set([...NO_NAMED_SESSION, 401, 500]);
/** The code of an answer by which servers say the same; some give it other meanings. */
const SESSION_NOT_FOUND = -32_001;

/** Tells whether the server has certainly not begun, so that the request may go over another connection. */
export function isRefusedUnseen(error: unknown): boolean {
  if (error instanceof NotSentError || statusOf(error) === NO_SESSION) return true;
  if (error instanceof SdkHttpError && NO_NAMED_SESSION.has(error.status) && /\bsession/i.test(error.message))
    return true;
  return error instanceof SdkError && error.code === SdkErrorCode.NotConnected;
}

/** Tells whether the server may have forgotten the session, as after a restart. What it was asked may have run. */
export function mayBeForgotten(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code === SESSION_NOT_FOUND;
  const status = statusOf(error);
  return (
    isRefusedUnseen(error) ||
    error instanceof UnauthorizedError ||
    (status !== undefined && MAYBE_NO_SESSION.has(status))
  );
}

/** The error of a call whose session the server has forgotten; there is a new session by now. */
export const sessionLost = ({ server, tool }: Pick<FailedCall, "server" | "tool">, cause: unknown): ToolError =>
  new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `The MCP server "${server}" has forgotten its session with us, perhaps while it ran "${tool}". ${FIND_OUT}`,
    {
      cause,
      details: { mayHaveRun: true },
    },
  );

export interface FailedCall {
  readonly server: string;
  readonly tool: string;
  readonly redact: Redactor["redact"];
  /** A second run does no harm. @default false */
  readonly isRepeatSafe?: boolean | undefined;
}

/**
 * Why a call failed, for the model, with what is known of whether the tool has run. A server's own words are quoted as
 * such, bounded, without deceptive characters and without our secrets.
 */
// Long because: one case follows the other, and their order decides
export function callError(error: unknown, { server, tool, redact, isRepeatSafe = false }: FailedCall): ToolError {
  if (error instanceof ToolError) return error;
  const what = `"${tool}" of the MCP server "${server}"`;
  // No part of an answer, as it may be of any form.
  const serverData =
    error instanceof ProtocolError && error.data != null ? dataText(error.data, redact, MAX_DATA) : undefined;
  let quotes = serverData !== undefined;
  const said = (text: string, before = ". The server says: "): string => {
    const clean = cleanText(redact(text), MAX_SAID).trim();
    quotes ||= clean !== "";
    return clean === "" ? "" : `${before}${clean}`;
  };
  const failed: Failed = (code, message, mayHaveRun, more = {}) =>
    new ToolError(code, message, {
      cause: error,
      ...more,
      trust: quotes ? saidBy(`mcp:${server}`) : OUR_WORDS,
      details: { mayHaveRun, ...(serverData === undefined ? {} : { serverData }), ...more.details },
    });

  if (error instanceof NotSentError)
    return failed(
      ToolErrorCode.Unavailable,
      `${what} cannot be called now: ${redact(error.message)}. Try again later.`,
      false,
    );
  if (error instanceof HttpRefusalError) {
    const { status, retryAfterMs } = error;
    return status === 429
      ? failed(ToolErrorCode.RateLimited, `${what} was not run: its server takes no more calls for now.`, false, {
          retryAfterMs: retryAfterMs ?? 1_000,
        })
      : failed(ToolErrorCode.Unavailable, `${what} was not run: its server is out of service for now.`, false, {
          retryAfterMs,
        });
  }
  const status = statusOf(error);
  if (error instanceof UnauthorizedError || status === 401 || status === 403) {
    return failed(
      ToolErrorCode.Unavailable,
      `${what} cannot be called: its server refuses our credentials. ${OPERATOR}`,
      false,
      {
        isRetryable: false,
      },
    );
  }
  if (status === NO_SESSION)
    return failed(
      ToolErrorCode.Unavailable,
      `${what} cannot be called now: its address answers with status 404.`,
      false,
    );
  if (status !== undefined && MOVED.has(status)) {
    return failed(
      ToolErrorCode.Unavailable,
      `${what} was not run: its server sends callers elsewhere, with status ${status}. ${OPERATOR}`,
      false,
      {
        isRetryable: false,
      },
    );
  }
  if (status !== undefined && status >= 400 && status < 500 && !UNCLEAR.has(status))
    return failed(
      ToolErrorCode.ExecutionFailed,
      `${what} was not run: its server refused the request with status ${status}.`,
      false,
    );
  if (status !== undefined)
    return failed(
      ToolErrorCode.OutcomeUnknown,
      `${what} failed: its server answered with status ${status}. ${FIND_OUT}`,
      true,
    );
  if (error instanceof ProtocolError) return protocolError(error, { what, said, serverData, failed });
  if (isTimeOut(error)) return timeoutError(what, { mayHaveRun: true, isRepeatSafe, cause: error });
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return failed(
      ToolErrorCode.ExecutionFailed,
      `${what} has run, and its answer is not a valid result of the protocol.`,
      true,
    );
  if (error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType)
    return failed(
      ToolErrorCode.ExecutionFailed,
      `${what} asks its caller for more input, which nobody here can give.`,
      true,
    );
  if (error instanceof UncarriableError)
    return failed(
      ToolErrorCode.ExecutionFailed,
      `${what} has run, and its result cannot be carried${said(error.message, ": it ")}.`,
      true,
    );
  if (isLost(error))
    return failed(
      ToolErrorCode.OutcomeUnknown,
      `The connection to ${what} was lost before its answer. ${FIND_OUT}`,
      true,
    );
  const name = error instanceof Error ? error.message : String(error);
  return failed(ToolErrorCode.ExecutionFailed, `${what} failed${said(name)}`, true);
}

type Failed = (
  code: string,
  message: string,
  mayHaveRun: boolean,
  more?: Pick<ToolErrorOptions, "retryAfterMs" | "isRetryable" | "details">,
) => ToolError;

interface Telling {
  readonly what: string;
  /** The server's words, which mark the error. */
  readonly said: (text: string, before?: string) => string;
  readonly serverData: string | undefined;
  readonly failed: Failed;
}

function protocolError(error: ProtocolError, { what, said, serverData, failed }: Telling): ToolError {
  if (error.code === URL_ELICITATION_REQUIRED) {
    const urls = urlsIn(error.data);
    const first = `${what} was not run: its server wants its user to open ${urls.length === 0 ? "an address, which it does not name" : urls.join(" and ")} first`;
    return failed(
      ToolErrorCode.Unavailable,
      `${first}${said(error.message)}. Show that to your user, and call it again when they have done so.`,
      false,
      {
        isRetryable: false,
        details: { reason: "url_elicitation_required", urls },
      },
    );
  }
  if (error.code === TOO_LONG_CODE)
    return failed(
      ToolErrorCode.TooLarge,
      `${what} has run, and ${error.message}, more than the limit. Ask for less.`,
      true,
    );
  if (error.code === NO_ANSWER_CODE)
    return failed(ToolErrorCode.OutcomeUnknown, `The server of ${what} ended without an answer. ${FIND_OUT}`, true);
  if (error.code === UNREADABLE_CODE)
    return failed(
      ToolErrorCode.ExecutionFailed,
      `${what} has run, and its answer is not a valid result of the protocol${said(error.message, ": ")}.`,
      true,
    );
  if (error.code === ProtocolErrorCode.InvalidParams || error.code === ProtocolErrorCode.MethodNotFound) {
    return /unknown tool|tool .*not found/i.test(error.message)
      ? failed(ToolErrorCode.ToolNotFound, `${what} is not there${said(error.message)}`, false)
      : failed(ToolErrorCode.InvalidArguments, `${what} does not take these arguments${said(error.message)}`, false);
  }
  const more = serverData === undefined ? "" : `. It adds: ${serverData.slice(0, MAX_SAID)}`;
  return failed(ToolErrorCode.ExecutionFailed, `${what} failed${said(error.message)}${more}`, true);
}

/** The web addresses that a server names for its user. */
function urlsIn(data: unknown): readonly string[] {
  const { elicitations } = (typeof data === "object" && data !== null ? data : {}) as {
    readonly elicitations?: unknown;
  };
  if (!Array.isArray(elicitations)) return [];
  const urls = elicitations.map((one: unknown) =>
    typeof one === "object" && one !== null ? (one as { readonly url?: unknown }).url : undefined,
  );
  return urls
    .filter(
      (url) => typeof url === "string" && /^https?:\/\/[^\s]{1,2000}$/.test(url) && cleanText(url, MAX_DATA) === url,
    )
    .slice(0, 3) as string[];
}

/** True if no answer came in time. */
export const isTimeOut = (error: unknown): boolean =>
  error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;

/** Tells whether the connection ended in the middle of the call, so that it may have run. */
export function isLost(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code === NO_ANSWER_CODE;
  if (error instanceof SdkError)
    return error.code === SdkErrorCode.ConnectionClosed || error.code === SdkErrorCode.SendFailed;
  if (error instanceof AnswerTooLongError) return false;
  const code = codeOf(error);
  return (
    code !== undefined &&
    (code.startsWith("ECONN") || code.startsWith("UND_ERR") || code === "EPIPE" || code.startsWith("ERR_SSL"))
  );
}

function statusOf(error: unknown): number | undefined {
  if (error instanceof SdkHttpError) return error.status;
  if (error instanceof HttpRefusalError) return error.status;
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "number" && code >= 400 && code < 600 && !(error instanceof ProtocolError) ? code : undefined; // SseError
}
