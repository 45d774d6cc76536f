import { isName } from "@rockbot/contracts";
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from "@rockbot/tools";

/** A request that cannot be meant this way. Every fault is in it, in words. */
export class DlqRequestError extends Error {
  override readonly name = "DlqRequestError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

/** The wish of an operator for the parked messages. */
export type DlqRequest =
  | { readonly action: "list"; readonly service: string | undefined; readonly limit: number }
  | { readonly action: "show"; readonly service: string; readonly id: string }
  | { readonly action: "replay"; readonly service: string; readonly id: string | undefined; readonly timeoutMs: number }
  | { readonly action: "purge"; readonly service: string; readonly id: string | undefined };

/** The same as text: from a command line, or from the query of a request. An absent id means all. */
export interface DlqFields {
  readonly service?: string | undefined;
  readonly id?: string | undefined;
  readonly limit?: string | undefined;
  readonly timeout?: string | undefined;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;
const MAX_ID_LENGTH = 255;

/** @throws {DlqRequestError} with every fault */
export function readDlqRequest(action: string, { service, id, limit, timeout }: DlqFields): DlqRequest {
  const faults: string[] = [];
  if (service !== undefined && !isName(service))
    faults.push(`the service: expected a name such as web-tools, got ${JSON.stringify(service.slice(0, 80))}`);
  if (service === undefined && action !== "list") faults.push("the service: missing");
  if (id !== undefined && (id === "" || id.length > MAX_ID_LENGTH))
    faults.push(`the message's id: expected 1 to ${MAX_ID_LENGTH} characters, as "dlq list" shows it`);
  const limited = readNumber("--limit", limit, { fallback: DEFAULT_LIMIT, max: MAX_LIMIT }, faults);
  const timeoutMs = readNumber("--timeout", timeout, { fallback: DEFAULT_TIMEOUT_MS, max: MAX_TIMEOUT_MS }, faults);
  if (faults.length > 0) throw new DlqRequestError(faults);
  switch (action) {
    case "list":
      return { action, service, limit: limited };
    case "show":
      if (id === undefined) break;
      return { action, service: service as string, id };
    case "replay":
      return { action, service: service as string, id, timeoutMs };
    case "purge":
      return { action, service: service as string, id };
  }
  throw new DlqRequestError([
    `cannot ${JSON.stringify(action.slice(0, 40))} parked messages${action === "show" ? " without an id" : ""}`,
  ]);
}

/** The fields that `readDlqRequest` reads as this request. */
export function dlqFields(request: DlqRequest): DlqFields {
  const { service } = request;
  switch (request.action) {
    case "list":
      return { service, limit: String(request.limit) };
    case "replay":
      return { service, id: request.id, timeout: String(request.timeoutMs) };
    default:
      return { service, id: request.id };
  }
}

function readNumber(
  name: string,
  text: string | undefined,
  { fallback, max }: { readonly fallback: number; readonly max: number },
  faults: string[],
): number {
  if (text === undefined) return fallback;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > max)
    faults.push(`${name}: expected a whole number from 1 to ${max}, got ${JSON.stringify(text.slice(0, 40))}`);
  return value;
}
