import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { errors } from "undici";
import { BodyTooLargeError } from "../body/index.ts";
import { BlockedAddressError, ConnectTimeoutError } from "./guarded-agent.ts";
import { BodyCutError, BodyEncodingError } from "./read-body.ts";

/** The limits that an error's text names. */
export interface FetchLimits {
  readonly maxBytes: number;
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** The settings by which an operator allows further addresses, if there are any. */
  readonly allowedBy: string | undefined;
  /** What errors call the place; its address if undefined. */
  readonly called: string | undefined;
}

/**
 * What a fault is of a request with effects. One that may have arrived may have been carried out, so it is no fault
 * that can be tried again.
 * @param error as `fetchError` makes it, of `cause`
 */
export function effectError(error: unknown, cause: unknown): unknown {
  if (!(error instanceof ToolError) || isBeforeSending(cause)) return error;
  return new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `${error.message} The request was sent, so it may have been carried out: find out before you send it again.`,
    {
      cause,
      details: { reason: error.code },
    },
  );
}

/** True if nothing was sent before this error. */
const isBeforeSending = (cause: unknown): boolean =>
  cause instanceof ToolError ||
  cause instanceof BlockedAddressError ||
  cause instanceof ConnectTimeoutError ||
  BEFORE_SENDING.test(codeOf(cause));

const CERTIFICATE = /^(CERT_|ERR_TLS_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH)/;
const BEFORE_SENDING = new RegExp(
  `^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|UND_ERR_CONNECT_TIMEOUT|ENETUNREACH|EHOSTUNREACH)$|${CERTIFICATE.source}`,
);

/**
 * The fault on the way to `url`, for the model. Never shows the query, which may hold secrets, nor the system's own
 * text.
 */
export function fetchError(url: URL, error: unknown, limits: FetchLimits): ToolError {
  if (error instanceof ToolError) return error;
  const { called } = limits;
  const [host, name] =
    called === undefined ? [`the host "${url.hostname}"`, `the name "${url.hostname}"`] : ["its host", "its name"];
  const cannot = cannotRead(url, limits);
  const unavailable = (what: string): ToolError =>
    new ToolError(ToolErrorCode.Unavailable, `${cannot}: ${what}`, { cause: error });
  const failed = (what: string): ToolError =>
    new ToolError(ToolErrorCode.ExecutionFailed, `${cannot}: ${what}`, { cause: error });

  if (error instanceof BlockedAddressError) return blocked(url, "the host is not on the public Internet", limits);
  if (error instanceof BodyTooLargeError) {
    return new ToolError(
      ToolErrorCode.TooLarge,
      `${cannot}: the answer is larger than the limit of ${limits.maxBytes} bytes.${called === undefined ? " Look for a smaller page, such as a part of it." : ""}`,
    );
  }
  if (error instanceof BodyEncodingError) return failed(`${error.message}.`);
  if (error instanceof BodyCutError)
    return unavailable("its compressed content broke off before the first of its text.");
  if (error instanceof ConnectTimeoutError) return unavailable(`no connection within ${limits.connectTimeoutMs} ms.`);

  const code = codeOf(error);
  switch (code) {
    case "ENOTFOUND":
      return unavailable(
        `no address is known for ${host}. ${called === undefined ? "Check its spelling." : "The operator has to check it."}`,
      );
    case "EAI_AGAIN":
      return unavailable(`${name} could not be looked up now.`);
    case "ECONNREFUSED":
      return unavailable("the server refuses connections.");
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return unavailable(`no connection within ${limits.connectTimeoutMs} ms.`);
    case "UND_ERR_HEADERS_TIMEOUT":
    case "UND_ERR_BODY_TIMEOUT":
      return unavailable(`the server sent nothing for ${limits.idleTimeoutMs} ms.`);
    case "UND_ERR_HEADERS_OVERFLOW":
      return failed("the answer's headers are too large.");
    case "ENETUNREACH":
    case "EHOSTUNREACH":
      return unavailable("there is no route to the server.");
    default:
  }
  if (CERTIFICATE.test(code)) return failed(`the server's certificate is not valid (${code}).`);
  if (error instanceof errors.HTTPParserError || /^(ERR_SSL_|EPROTO)/.test(code))
    return failed("the server's answer is not valid HTTP, or its encryption is not supported.");
  return unavailable("the connection broke before the answer was complete.");
}

/** Why policy does not let a request go to `url`. */
export function blocked(url: URL, why: string, limits: Pick<FetchLimits, "allowedBy" | "called">): ToolError {
  const unless = limits.allowedBy === undefined ? "" : `, unless the operator allows more (${limits.allowedBy})`;
  return new ToolError(
    ToolErrorCode.Denied,
    `${cannotRead(url, limits)}: ${why}. Only public addresses may be read${unless}.`,
  );
}

/** How an error about `url` begins. */
export const cannotRead = (url: URL, { called }: Pick<FetchLimits, "called">): string =>
  `Cannot read ${called ?? describeUrl(url)}`;

/** A URL for the words of an error, without its query: that may hold secrets. */
export const describeUrl = (url: URL): string => `${url.protocol}//${url.host}${url.pathname}`.slice(0, 300);

/** The first error code found in `error`, its causes and its parts. */
function codeOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 5) return "";
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string" && code !== "UND_ERR_SOCKET") return code;
  if (error instanceof AggregateError) {
    for (const part of error.errors) {
      const found = codeOf(part, depth + 1);
      if (found !== "") return found;
    }
  }
  return codeOf(error.cause, depth + 1) || (code ?? "");
}
