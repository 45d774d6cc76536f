import { type InputRequiredResult, isInputRequiredResult, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import { isRecord } from "@rockbot/base";
import { cleanText } from "../../text/clean-text.ts";

/** A server's question to a person, in the middle of a call. */
export interface McpQuestion {
  readonly message: string;
  /** The JSON Schema of the answer, an object. */
  readonly schema: object;
  /** Names it among the questions of the call. @default its place in their order */
  readonly key?: string | undefined;
}

/** Asks a person. @throws what ends the call */
export type AskPerson = (question: McpQuestion) => Promise<Readonly<Record<string, unknown>>>;

/** The answers by the keys of their questions. */
type Answers = Record<string, Elicited>;

type Elicited =
  | { readonly action: "accept"; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: "decline" };

/** A server asks a person at most so often in one call. */
const MAX_ROUNDS = 8;
const MAX_MESSAGE = 2_000;
const MAX_URL = 2_000;
const OPENED = {
  type: "object",
  required: ["opened"],
  properties: {
    opened: {
      type: "boolean",
      description: "True once you have opened it and are done there, false if you do not want to.",
    },
  },
};

/** The questions in the place of a result; undefined if it is a result. */
export const askedIn = (result: unknown): InputRequiredResult | undefined =>
  isInputRequiredResult(result) ? result : undefined;

/**
 * Has a person answer a server's questions, one after the other.
 * @param round how often the server has asked before in this call
 * @throws {SdkError} for questions that nobody answers, such as those to a model, or too many
 */
export async function answersTo(
  inputRequests: Readonly<Record<string, unknown>>,
  ask: AskPerson | undefined,
  round: number,
): Promise<Answers> {
  if (ask === undefined) throw unsupported("it asks a person, and there is none");
  if (round >= MAX_ROUNDS) throw unsupported(`it has asked a person ${round} times, and asks again`);
  const answers: Answers = {};
  for (const [key, asked] of Object.entries(inputRequests)) answers[key] = await answerTo(asked, ask);
  return answers;
}

async function answerTo(asked: unknown, ask: AskPerson): Promise<Elicited> {
  const { method, params } = isRecord(asked) ? asked : {};
  const { message, requestedSchema, mode, url } = isRecord(params) ? params : {};
  const words = cleanText(String(message ?? ""), MAX_MESSAGE);
  if (method === "elicitation/create" && mode === "url") {
    const { opened } = await ask({ message: invitation(String(url), words), schema: OPENED });
    return { action: opened === true ? "accept" : "decline" };
  }
  if (method !== "elicitation/create" || !isRecord(requestedSchema))
    throw unsupported(`it asks by "${cleanText(String(method), 64)}" for what no form gives`);
  return { action: "accept", content: await ask({ message: words, schema: requestedSchema }) };
}

/** Names the host before all else, as the browser will, and then the server's words and its link. */
function invitation(url: string, words: string): string {
  const read = URL.canParse(url) ? new URL(url) : undefined;
  const isFit = url.length <= MAX_URL && !/\s/.test(url) && cleanText(url, MAX_URL) === url;
  if (read === undefined || !/^https?:$/.test(read.protocol) || !isFit)
    throw unsupported("it wants a person to open what is no web address");
  const isCoded = read.hostname.split(".").some((label) => label.startsWith("xn--"));
  const coded = isCoded ? " Its name has letters beyond ASCII, which may look like those of another host." : "";
  const plain = read.protocol === "http:" ? " The connection is not encrypted." : "";
  return `The server wants you to open an address of the host ${read.host}.${coded}${plain} Do so only if you trust this host.\n\nThe server says: ${JSON.stringify(words)}\n\n${url}`;
}

const unsupported = (why: string): SdkError => new SdkError(SdkErrorCode.UnsupportedResultType, why);
