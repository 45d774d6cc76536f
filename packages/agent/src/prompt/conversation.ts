import type { ModelAnswer, ModelMessage, ModelTool, ModelToolCall } from "@rockbot/llm";

/** So many characters of a result stay at least when it has to give way. */
const LEAST_LEFT = 2_000;
/** The part of them that is its beginning; the rest is its end. */
const HEAD = 3 / 4;
/** A result of fewer characters is not worth trimming. */
const WORTH_TRIMMING = 4_000;
/** The notice about what is left out. */
const NOTICE_TOKENS = 150;
/** What is left is estimated, so that a second look may find a little too much. */
const TRIES = 3;
/** What a message has besides its text, in tokens. */
const MESSAGE_TOKENS = 8;
/** An image, in tokens: what Anthropic and OpenAI count at most for one that they have made smaller. */
const IMAGE_TOKENS = 1_600;
/** The question, and the newest answer with its results, always stay. */
const GROUPS_TO_KEEP = 2;

type RepeatedAnswer = Pick<ModelAnswer, "text" | "toolCalls" | "providerData">;

/** An answer as the conversation goes on with it. */
export function answerMessage({ text, toolCalls, providerData }: RepeatedAnswer): ModelMessage {
  const calls = toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }));
  const more = {
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
    ...(providerData === undefined ? {} : { providerData }),
  };
  return { role: "assistant", content: text, ...more };
}

/** Keeps a result whole, where its model can read it. Resolves with its key, or nothing if it is not kept. */
export type KeepWhole = () => Promise<string | undefined>;

/** A result as it was before it was trimmed. */
interface Whole {
  readonly content: string;
  readonly keep: KeepWhole;
}

/** The messages of a turn. A call and its result belong together: they come and go together. */
export class Conversation {
  #system: readonly ModelMessage[];
  /** The groups of earlier turns, oldest first: each goes as a whole. */
  readonly #earlier: ModelMessage[][];
  /** The groups of this turn: its question, then each answer with the results of its calls. */
  readonly #turn: ModelMessage[][];
  readonly #wholes = new WeakMap<ModelMessage, Whole>();
  #hasCutResults = false;
  #takesImages = true;

  constructor(system: readonly ModelMessage[], earlier: readonly ModelMessage[], asked: readonly ModelMessage[]) {
    this.#system = system;
    this.#earlier = groupsOf(earlier);
    this.#turn = [[...asked]];
  }

  get messages(): readonly ModelMessage[] {
    const all = [...this.#system, ...this.#earlier.flat(), ...this.#turn.flat()];
    return this.#takesImages ? all : all.map(withoutImages);
  }

  /** The results that this turn has read, as the model has them. */
  get results(): readonly string[] {
    return this.#turn.flat().flatMap((message) => (message.role === "tool" ? [message.content] : []));
  }

  /** True if results of this turn or an earlier one were shortened or left out, so that the rest fits the model. */
  get hasCutResults(): boolean {
    return this.#hasCutResults;
  }

  addAnswer(answer: RepeatedAnswer): void {
    if (answer.text === "" && answer.toolCalls.length === 0) return; // a provider refuses a message without content
    this.#turn.push([answerMessage(answer)]);
  }

  /** The result of a call of the last answer. @param keep once it has to give way */
  addResult(call: ModelToolCall, content: string, isError: boolean, keep: KeepWhole = async () => undefined): void {
    const message: ModelMessage = { role: "tool", toolCallId: call.id, toolName: call.name, content, isError };
    this.#turn.at(-1)?.push(message);
    this.#wholes.set(message, { content, keep });
  }

  /**
   * Puts other rules in the place of ours, which are the first message.
   * @param takesImages whether the model that goes on by them sees images
   */
  setRules(content: string, takesImages = true): void {
    this.#takesImages = takesImages;
    this.#system = [{ role: "system", content }, ...this.#system.slice(1)];
  }

  /** What we say to the model with the question, which stays. */
  addToQuestion(content: string): void {
    this.#turn[0]?.push({ role: "user", content });
  }

  /** What we say to the model. */
  addNote(content: string): void {
    this.#turn.push([{ role: "user", content }]);
  }

  /** About how many tokens a model reads of it. */
  tokens(tools: readonly ModelTool[]): number {
    return [...tools.map(toolTokens), ...this.messages.map(messageTokens)].reduce((sum, tokens) => sum + tokens, 0);
  }

  /**
   * Makes the conversation fit, as far as it can: earlier turns go first, then results are trimmed, the oldest first,
   * then the oldest answers go.
   */
  async fit(maxTokens: number, tools: readonly ModelTool[]): Promise<void> {
    const isTooLong = (): boolean => this.tokens(tools) > maxTokens;
    while (isTooLong() && this.#earlier.length > 0) this.#earlier.shift();
    await this.#trim(() => this.tokens(tools) - maxTokens);
    while (isTooLong() && this.#turn.length > GROUPS_TO_KEEP) {
      this.#hasCutResults ||= this.#turn[1]?.some(({ role }) => role === "tool") === true;
      this.#turn.splice(1, 1);
    }
  }

  /**
   * Trims results, then leaves out earlier turns, until the rest fits.
   * @param maxTokens what the model takes; if that is not known, or is more than it seems to get, about a third has to
   * go
   * @returns whether anything is gone
   */
  async trimForOverflow(maxTokens: number | undefined, tools: readonly ModelTool[]): Promise<boolean> {
    const before = this.tokens(tools);
    const ofMessages = this.tokens([]);
    const known = maxTokens === undefined || maxTokens >= before ? undefined : maxTokens - before + ofMessages;
    const excess = (): number => this.tokens([]) - (known ?? (ofMessages * 2) / 3);
    await this.#trim(excess);
    while (excess() > 0 && this.#earlier.length > 0) this.#earlier.shift();
    return this.tokens(tools) < before;
  }

  /** Trims results by no more than has to go: the oldest answer's first, and of one answer the largest. */
  async #trim(excess: () => number): Promise<void> {
    for (let i = 0; i < TRIES && excess() > 0; i++) {
      for (const group of [...this.#earlier, ...this.#turn]) {
        const results = [...group.entries()].filter(
          ([, { role, content }]) => role === "tool" && content.length > WORTH_TRIMMING,
        );
        for (const [index, message] of results.sort(([, a], [, b]) => b.content.length - a.content.length)) {
          const tokens = excess();
          if (tokens <= 0) return;
          group[index] = await this.#trimmed(message, tokens + NOTICE_TOKENS);
        }
      }
    }
  }

  async #trimmed(message: ModelMessage, tokens: number): Promise<ModelMessage> {
    this.#hasCutResults = true;
    const whole = this.#wholes.get(message);
    const left = Math.max(LEAST_LEFT, Math.floor(message.content.length * (1 - tokens / tokensOf(message.content))));
    const shorter = { ...message, content: trimmed(whole?.content ?? message.content, left, await whole?.keep()) };
    if (whole !== undefined) this.#wholes.set(shorter, whole);
    return shorter;
  }
}

/**
 * The head and the tail of a result, with a notice between. A fence around it stays whole: its marks are the first and
 * the last line.
 */
function trimmed(content: string, left: number, key: string | undefined): string {
  const head = Math.floor(left * HEAD);
  const where =
    key === undefined ? "" : `. The whole is in working memory, key "${key}": read a part of it, or find a text in it`;
  const notice = `[${content.length - left} characters left out, as the conversation was too long for the model${where}]`;
  return `${content.slice(0, head).toWellFormed()}\n${notice}\n${content.slice(head - left).toWellFormed()}`;
}

function withoutImages(message: ModelMessage): ModelMessage {
  if (message.role !== "user" || message.images === undefined || message.images.length === 0) return message;
  const { images, content, ...rest } = message;
  return { ...rest, content: `${content}\n(Images came with this message, which you cannot see: ${images.length}.)` };
}

/** An answer with calls stays with their results. */
function groupsOf(messages: readonly ModelMessage[]): ModelMessage[][] {
  const groups: ModelMessage[][] = [];
  for (const message of messages) {
    if (message.role === "tool") groups.at(-1)?.push(message);
    else groups.push([message]);
  }
  return groups;
}

const messageTokens = (message: ModelMessage): number =>
  MESSAGE_TOKENS +
  tokensOf(message.content) +
  (message.role === "user" ? (message.images?.length ?? 0) * IMAGE_TOKENS : 0) +
  (message.role === "assistant" && message.toolCalls !== undefined ? tokensOf(JSON.stringify(message.toolCalls)) : 0);

const ofTools = new WeakMap<ModelTool, number>();

/** A tool is the same object from turn to turn, and long. */
function toolTokens(tool: ModelTool): number {
  const tokens = ofTools.get(tool) ?? tokensOf(JSON.stringify(tool));
  ofTools.set(tool, tokens);
  return tokens;
}

/** About how many tokens a text has; rather too many. Bytes count, as a character of Chinese is about a token. */
export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3.5);
