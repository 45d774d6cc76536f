import { sessionFault, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type CallHeaders, type CallHeadersOptions, readCallHeaders } from "../calls/call-headers.ts";
import { readAfter } from "../sessions/read-session.ts";

/** The words of a request's headers about its turn. */
export interface ChatHeaders extends Omit<CallHeaders, "firstSentMsAgo"> {
  /** True if the client can come back to the turn by its key. */
  readonly hasKey: boolean;
  /** The client has what the stream carried up to this sequence. */
  readonly after: number | undefined;
}

/**
 * Reads the headers of a call, where a turn of a session goes on without its client unless `rockbot-on-close` says
 * `cancel`. `Last-Event-ID` has the stream of the same `Idempotency-Key` go on. `rockbot-age-ms` is refused, as it
 * would not be kept: the agent begins a turn that its store does not know.
 * @throws {ToolError} `invalid_arguments` that names the faults
 */
export function readChatHeaders(
  header: (name: string) => string | undefined,
  options: CallHeadersOptions,
): ChatHeaders {
  if (header("rockbot-age-ms") !== undefined)
    throw invalid(
      "rockbot-age-ms: a turn of the agent takes none. A repeat with the same Idempotency-Key runs again if its turn is not known any more",
    );
  const sessionId = header("rockbot-session");
  const fault = sessionId === undefined ? undefined : sessionFault(sessionId); // calls of tools may have longer ones
  if (fault !== undefined) throw invalid(`rockbot-session: ${fault}`);
  const onClose = header("rockbot-on-close");
  const hasKey = header("idempotency-key") !== undefined;
  // A turn of a session can be found again without a key.
  const isPlainKeep = sessionId !== undefined && onClose === "keep";
  const { firstSentMsAgo: _, ...read } = readCallHeaders(
    (name) => (name === "rockbot-on-close" && isPlainKeep ? undefined : header(name)),
    options,
  );
  const after = readAfter(header("last-event-id"), "the header Last-Event-ID");
  if (after !== undefined && !hasKey)
    throw invalid(
      "Last-Event-ID: needs the Idempotency-Key of the request whose stream goes on. GET /v1/sessions/{id}/events needs none",
    );
  return { ...read, goesOn: sessionId === undefined ? read.goesOn : onClose !== "cancel", hasKey, after };
}

const invalid = (fault: string): ToolError =>
  new ToolError(ToolErrorCode.InvalidArguments, `Cannot read the request's headers: ${fault}`);
