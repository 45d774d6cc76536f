import type { IncomingHttpHeaders } from "node:http";
import type { ModelFault, ModelProtocol, ModelServerRequest } from "./model-script.ts";
import type { Speech } from "./speech.ts";
import { tokensOf } from "./stream-step.ts";

/** What the server holds requests to. */
export interface ServerRules {
  readonly models: readonly string[];
  /** Undefined: requests need none. */
  readonly apiKey: string | undefined;
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
}

/** A request as it came. */
export interface RawRequest {
  readonly index: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
}

/** Reads a request of either protocol. @returns the fault, too, for which the protocol's maker would refuse it */
export function readRequest(
  { protocol, speech }: { readonly protocol: ModelProtocol; readonly speech: Speech },
  received: RawRequest,
  rules: ServerRules,
): { readonly request: ModelServerRequest; readonly fault: ModelFault | undefined } {
  const parsed = parse(received.raw);
  const body = parsed ?? {};
  const inputTokens = tokensOf(JSON.stringify([body.tools ?? [], body.system ?? [], body.messages ?? []]));
  const fault = faultOf(speech, { body: parsed, headers: received.headers, inputTokens }, rules);
  const request = {
    ...received,
    protocol,
    body,
    messages: parsed === undefined ? [] : speech.messagesOf(body),
    toolNames: speech.toolNamesOf(body),
    inputTokens,
    ...(fault !== undefined && { refused: fault.message }),
  };
  return { request, fault };
}

interface Parsed {
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly inputTokens: number;
}

function faultOf(speech: Speech, { body, headers, inputTokens }: Parsed, rules: ServerRules): ModelFault | undefined {
  if (rules.apiKey !== undefined && speech.keyOf(headers) !== rules.apiKey) return speech.noKey();
  if (body === undefined)
    return { status: 400, message: "We could not parse the JSON body of your request.", type: "invalid_request_error" };
  if (!rules.models.includes(String(body.model))) return speech.noModel(String(body.model));
  const fault = speech.check(body, headers);
  if (fault !== undefined) return fault;
  const asked = speech.maxOutputOf(body);
  if (typeof asked === "number" && asked > rules.maxOutputTokens)
    return speech.tooMuchOutput(asked, rules.maxOutputTokens);
  return inputTokens > rules.contextTokens ? speech.tooLong(inputTokens, rules.contextTokens) : undefined;
}

/** Half of a surrogate pair is not JSON to the makers. */
function parse(raw: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(raw, (_key, each: unknown) => {
      if (typeof each === "string" && !each.isWellFormed()) throw new SyntaxError("no low surrogate in string");
      return each;
    });
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
