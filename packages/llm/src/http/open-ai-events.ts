import { isRecord } from "@rockbot/base";
import { mendData } from "./event-lines.ts";

/** Arguments that are no text, and no list of choices. Within a text the quotes would be escaped. */
const WRONG = /"arguments"\s*:\s*[{[]|"choices"\s*:\s*null/;
const FINISH = /"finish_reason"\s*:\s*"/;
/** The finish reason of an answer that its server ended without one. */
const UNTOLD = "unknown";
const UNTOLD_FINISH = Buffer.from(
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: UNTOLD }] })}\n\n`,
);

/** As far as we look into it, if it is one at all. */
interface Completion {
  readonly choices?: readonly Choice[] | null | undefined;
}
interface Choice {
  readonly message?: Said;
  readonly delta?: Said | null;
  readonly finish_reason?: string | null;
}
interface Said {
  readonly tool_calls?: readonly { readonly function?: { readonly arguments?: unknown } }[] | null;
}

/**
 * Mends the lines of one answer of OpenAI's protocol, as servers of others write it: arguments of calls that are an
 * object become its text, `choices` that are `null` none, and an answer that ends by `[DONE]` has a `finish_reason`.
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function openAiMender(): (lines: Buffer) => Buffer {
  let hasFinish = false;
  return (lines) => {
    const text = lines.toString("latin1");
    hasFinish ||= FINISH.test(text);
    const mended = WRONG.test(text) ? Buffer.from(mendData(lines.toString(), mendedCompletion)) : lines;
    const done = hasFinish ? null : /^data: ?\[DONE\]/m.exec(mended.toString("latin1"));
    if (done === null) return mended;
    return Buffer.concat([mended.subarray(0, done.index), UNTOLD_FINISH, mended.subarray(done.index)]);
  };
}

/** An answer of OpenAI's protocol that a server gave whole, as the events of a stream; undefined if it is none. */
export function eventsOfWhole(body: string): string | undefined {
  const { choices, ...head } = completionIn(body) ?? {};
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every((choice) => isRecord(choice?.message)))
    return undefined;
  const deltas = choices.map(
    ({ message: { tool_calls: calls, ...message } = {}, finish_reason: finish, ...choice }: Choice) => {
      const numbered = Array.isArray(calls) ? { tool_calls: calls.map((call, index) => ({ index, ...call })) } : {};
      return { ...choice, finish_reason: finish ?? UNTOLD, delta: { ...message, ...numbered } };
    },
  );
  return `data: ${JSON.stringify(mendedCompletion({ ...head, choices: deltas }))}\n\ndata: [DONE]\n\n`;
}

function mendedCompletion(data: unknown): unknown {
  if (!isRecord(data)) return data;
  const { choices } = data as Completion;
  if (choices === null) return { ...data, choices: [] };
  return Array.isArray(choices) ? { ...data, choices: choices.map(mendedChoice) } : data;
}

function mendedChoice(choice: Choice): Choice {
  const calls = choice?.delta?.tool_calls;
  if (!Array.isArray(calls)) return choice;
  const mended = calls.map((call) => {
    const given = call?.function?.arguments;
    return typeof given === "object" && given !== null
      ? { ...call, function: { ...call.function, arguments: JSON.stringify(given) } }
      : call;
  });
  return { ...choice, delta: { ...choice.delta, tool_calls: mended } };
}

function completionIn(text: string): Completion | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
