import { isRecord } from "@rockbot/base";

const NEWLINE = 0x0a;
/** Arguments that are no text. Within a text the quotes would be escaped. */
const BARE_ARGUMENTS = /"arguments"\s*:\s*[{[]/;

/**
 * Gives the events of an answer on in whole lines. Arguments of calls are a text in OpenAI's protocol. Some servers write an object: it becomes its text.
 * @see https://platform.openai.com/docs/api-reference/chat-streaming choices[].delta.tool_calls[].function.arguments
 */
export class EventLines {
  /** The pieces of a line that has not ended. */
  #held: Buffer[] = [];

  /** The lines that end in this piece; empty if none does. */
  take(piece: Uint8Array): Buffer {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      this.#held.push(bytes);
      return bytes.subarray(0, 0);
    }
    const lines = this.#held.length === 0 ? bytes.subarray(0, end) : Buffer.concat([...this.#held, bytes.subarray(0, end)]);
    this.#held = end === bytes.length ? [] : [bytes.subarray(end)];
    return withTextArguments(lines);
  }

  /** What has come after the last line. */
  rest(): Buffer {
    return withTextArguments(Buffer.concat(this.#held.splice(0)));
  }
}

/** An answer of OpenAI's protocol that a server gave whole, as the events of a stream; undefined if it is none. */
export function eventsOfWhole(body: string): string | undefined {
  const { choices, ...head } = completionIn(body) ?? {};
  if (!Array.isArray(choices) || choices.length === 0 || !choices.every((choice) => isRecord(choice?.message))) return undefined;
  const deltas = choices.map(({ message: { tool_calls: calls, ...message } = {}, ...choice }) => {
    const numbered = Array.isArray(calls) ? { tool_calls: calls.map((call, index) => ({ index, ...call })) } : {};
    return { ...choice, delta: { ...message, ...numbered } };
  });
  return mended(`data: ${JSON.stringify({ ...head, choices: deltas })}\n\ndata: [DONE]\n\n`);
}

/** As far as we look into it, if it is one at all. */
interface Completion {
  readonly choices?: readonly { readonly message?: Said; readonly delta?: Said | null }[] | undefined;
}
interface Said {
  readonly tool_calls?: readonly { readonly function?: { arguments?: unknown } }[] | null;
}

function withTextArguments(lines: Buffer): Buffer {
  if (!lines.includes('"arguments"')) return lines;
  const text = lines.toString();
  return BARE_ARGUMENTS.test(text) ? Buffer.from(mended(text)) : lines;
}

const mended = (lines: string): string => lines.split("\n").map(mendedLine).join("\n");

function mendedLine(line: string): string {
  if (!line.startsWith("data:") || !BARE_ARGUMENTS.test(line)) return line;
  const event = completionIn(line.slice("data:".length));
  const choices = Array.isArray(event?.choices) ? event.choices : [];
  for (const choice of choices) {
    const calls = choice?.delta?.tool_calls;
    for (const call of Array.isArray(calls) ? calls : []) {
      const given = call?.function?.arguments;
      if (typeof given === "object" && given !== null) call.function.arguments = JSON.stringify(given);
    }
  }
  return event === undefined ? line : `data: ${JSON.stringify(event)}`;
}

function completionIn(text: string): Completion | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
