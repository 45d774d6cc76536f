import { type InputRequiredResult, isInputRequiredResult, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { cleanText } from "../../text/clean-text.ts";

/** A server's question to a person, in the middle of a call. */
export interface McpQuestion {
  readonly message: string;
  /** The JSON Schema of the answer, an object. */
  readonly schema: object;
}

/** Asks a person. @throws what ends the call */
export type AskPerson = (question: McpQuestion) => Promise<Readonly<Record<string, unknown>>>;

/** The parameters of a call that goes on with answers. */
interface Answers {
  readonly inputResponses: Record<string, { action: "accept"; content: Readonly<Record<string, unknown>> }>;
  /** The server's own, given back as it came. */
  readonly requestState?: string | undefined;
}

/** A server asks a person at most so often in one call. */
const MAX_ROUNDS = 8;
const MAX_MESSAGE = 2_000;

/** The questions in the place of a result; undefined if it is a result. */
export const askedIn = (result: unknown): InputRequiredResult | undefined =>
  isInputRequiredResult(result) ? result : undefined;

/**
 * Has a person answer a server's questions, one after the other.
 * @param round how often the server has asked before in this call
 * @throws {SdkError} for questions that are no forms, such as for a model's words or an address to open, or too many
 */
export async function answersTo(
  { inputRequests = {}, requestState }: InputRequiredResult,
  ask: AskPerson,
  round: number,
): Promise<Answers> {
  if (round >= MAX_ROUNDS) throw unsupported(`it has asked a person ${round} times, and asks again`);
  const inputResponses: Answers["inputResponses"] = {};
  for (const [key, { method, params }] of Object.entries(inputRequests)) {
    if (method !== "elicitation/create" || params === undefined || !("requestedSchema" in params))
      throw unsupported(`it asks by "${cleanText(method, 64)}" for what no form gives`);
    const content = await ask({ message: cleanText(params.message, MAX_MESSAGE), schema: params.requestedSchema });
    inputResponses[key] = { action: "accept", content };
  }
  return { inputResponses, requestState };
}

const unsupported = (why: string): SdkError => new SdkError(SdkErrorCode.UnsupportedResultType, why);
