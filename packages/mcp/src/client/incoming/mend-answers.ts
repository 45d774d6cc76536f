import { isRecord } from "@rockbot/base";
import { isTooDeepToCarry, quoteInexact } from "@rockbot/contracts";

/** Stands in the place of an answer that is none as JSON-RPC has it. */
export const UNREADABLE_CODE = -32_097;
/** Stands in the place of an answer that did not come and cannot come any more. */
export const NO_ANSWER_CODE = -32_096;
const INTERNAL_ERROR = -32_603;

type JsonObject = Readonly<Record<string, unknown>>;

/** The messages that a text holds. */
export interface MendedAnswers {
  /** Its messages: one, or those of a list. */
  readonly messages: readonly unknown[];
  /**
   * The same as JSON, written when it is asked for; the text itself if there was nothing to mend.
   * @throws {RangeError} if what stands beside an answer nests too deep to be written
   */
  readonly text: string;
}

/**
 * Reads a server's answers so that none is lost: the SDK drops answers that break its schemas, and the caller would
 * wait for ever. An answer that breaks them becomes one that says the same, or an error that says that it cannot be
 * read. Numbers in a result that JavaScript would change are text. In lists of tools numbers are bounds in schemas, and
 * stay numbers.
 * @param askedId the request that the text answers, if it can answer only that one
 * @returns undefined if the text is not JSON
 */
export function mendAnswers(text: string, askedId?: () => unknown): MendedAnswers | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  let exact = text;
  if (isRecord(value) && mayHoldData(value)) {
    exact = quoteInexact(text);
    if (exact !== text) value = JSON.parse(exact);
  }
  const said: readonly unknown[] = Array.isArray(value) ? value : [value];
  const messages = said.map((message) => mend(message, askedId));
  if (messages.every((message, index) => message === said[index])) return { messages, text: exact };
  return {
    messages,
    get text() {
      return JSON.stringify(Array.isArray(value) ? messages : messages[0]);
    },
  };
}

const mayHoldData = ({ result, error }: JsonObject): boolean =>
  (isRecord(result) && !("tools" in result)) || error !== undefined;

/** The message itself if it is no answer, or one as it should be. */
function mend(message: unknown, askedId?: () => unknown): unknown {
  if (!isRecord(message) || "method" in message) return message;
  const { jsonrpc, result, error } = message;
  if (result === undefined && error === undefined && !("id" in message)) return message;
  const id = isId(message["id"]) ? message["id"] : error == null ? undefined : askedId?.();
  if (!isId(id)) return message;
  const isMetaFit = !isRecord(result) || result["_meta"] === undefined || isRecord(result["_meta"]);
  const isAsItShouldBe =
    jsonrpc === "2.0" &&
    id === message["id"] &&
    Object.keys(message).length === 3 &&
    (isRecord(result) || isError(error)) &&
    isMetaFit;
  if (isAsItShouldBe) return message;
  if (isTooDeepToCarry(message)) return unreadable(id, "the answer is nested too deeply");
  if (isRecord(result) && error == null)
    return { jsonrpc: "2.0", id, result: isMetaFit ? result : { ...result, _meta: { value: result["_meta"] } } };
  return error == null
    ? unreadable(id, "the answer has neither a result nor an error")
    : { jsonrpc: "2.0", id, error: mendError(error) };
}

/** Ends a request whose server has said all that it says to it, and no answer. */
export const noAnswer = (id: string | number) =>
  ({ jsonrpc: "2.0", id, error: { code: NO_ANSWER_CODE, message: "the server gave no answer" } }) as const;

const unreadable = (id: unknown, message: string): JsonObject => ({
  jsonrpc: "2.0",
  id,
  error: { code: UNREADABLE_CODE, message },
});

function mendError(error: unknown): object {
  if (isError(error)) return error;
  const { code, message, data } = isRecord(error) ? error : { code: undefined, message: error, data: undefined };
  const words = [Number.isSafeInteger(code) ? undefined : code, message]
    .filter((part) => part !== undefined && part !== null)
    .map(inWords);
  return {
    code: Number.isSafeInteger(code) ? code : INTERNAL_ERROR,
    message: words.join(": "),
    ...(data === undefined ? {} : { data }),
  };
}

const inWords = (part: unknown): string => (typeof part === "object" ? JSON.stringify(part) : String(part));

const isError = (error: unknown): error is JsonObject =>
  isRecord(error) && Number.isSafeInteger(error["code"]) && typeof error["message"] === "string";

export const isId = (id: unknown): id is string | number => typeof id === "string" || Number.isSafeInteger(id);
