import type { ModelAnswer, ModelMessage, ModelTool, ModelToolCall } from "@rockbot/llm";

/** How much of a result stays when it has to give way. */
const TRIMMED_HEAD = 1_500;
const TRIMMED_TAIL = 500;
/** A result of fewer characters is not worth trimming. */
const WORTH_TRIMMING = 4_000;
/** What a message has besides its text, in tokens. */
const MESSAGE_TOKENS = 8;
/** The question, and the newest answer with its results, always stay. */
const GROUPS_TO_KEEP = 2;

type RepeatedAnswer = Pick<ModelAnswer, "text" | "toolCalls" | "providerData">;

/** An answer as the conversation goes on with it. */
export function answerMessage({ text, toolCalls, providerData }: RepeatedAnswer): ModelMessage {
  const calls = toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }));
  const more = { ...(calls.length === 0 ? {} : { toolCalls: calls }), ...(providerData === undefined ? {} : { providerData }) };
  return { role: "assistant", content: text, ...more };
}

/** The messages of a turn. A call and its result belong together: they come and go together. */
export class Conversation {
  #system: readonly ModelMessage[];
  /** Of earlier turns, oldest first: each group goes as a whole. */
  readonly #earlier: ModelMessage[][];
  /** Of this turn: what is asked, then each answer with the results of its calls. */
  readonly #turn: ModelMessage[][];
  #hasCutResults = false;

  constructor(system: readonly ModelMessage[], earlier: readonly ModelMessage[], asked: readonly ModelMessage[]) {
    this.#system = system;
    this.#earlier = groupsOf(earlier);
    this.#turn = [[...asked]];
  }

  get messages(): readonly ModelMessage[] {
    return [...this.#system, ...this.#earlier.flat(), ...this.#turn.flat()];
  }

  /** The results that this turn has read, as the model has them. */
  get results(): readonly string[] {
    return this.#turn.flat().flatMap((message) => (message.role === "tool" ? [message.content] : []));
  }

  /** Whether results of this turn or an earlier one were shortened or left out, so that the rest fits the model. */
  get hasCutResults(): boolean {
    return this.#hasCutResults;
  }

  addAnswer(answer: RepeatedAnswer): void {
    if (answer.text === "" && answer.toolCalls.length === 0) return; // a provider refuses a message without content
    this.#turn.push([answerMessage(answer)]);
  }

  /** The result of a call of the last answer. */
  addResult(call: ModelToolCall, content: string, isError: boolean): void {
    this.#turn.at(-1)?.push({ role: "tool", toolCallId: call.id, toolName: call.name, content, isError });
  }

  /** Puts other rules in the place of ours, which are the first message. */
  setRules(content: string): void {
    this.#system = [{ role: "system", content }, ...this.#system.slice(1)];
  }

  /** What we say to the model. */
  addNote(content: string): void {
    this.#turn.push([{ role: "user", content }]);
  }

  /** About how many tokens a model reads of it. */
  tokens(tools: readonly ModelTool[]): number {
    return [...tools.map(toolTokens), ...this.messages.map(messageTokens)].reduce((sum, tokens) => sum + tokens, 0);
  }

  /** Makes the conversation fit, as far as it can: earlier turns go first, then the largest results are trimmed, then the oldest answers go. */
  fit(maxTokens: number, tools: readonly ModelTool[]): void {
    const isTooLong = (): boolean => this.tokens(tools) > maxTokens;
    while (isTooLong() && this.#earlier.length > 0) this.#earlier.shift();
    while (isTooLong() && this.#trimLargest()); // each makes it shorter
    while (isTooLong() && this.#turn.length > GROUPS_TO_KEEP) {
      this.#hasCutResults ||= this.#turn[1]?.some(({ role }) => role === "tool") === true;
      this.#turn.splice(1, 1);
    }
  }

  /** Trims the largest results, then leaves out earlier turns, until about a third of the conversation is gone. @returns whether anything is */
  trimForOverflow(): boolean {
    const before = this.#length();
    const isLongStill = (): boolean => this.#length() > (before * 2) / 3;
    while (isLongStill() && this.#trimLargest());
    while (isLongStill() && this.#earlier.length > 0) this.#earlier.shift();
    return this.#length() < before;
  }

  #trimLargest(): boolean {
    let largest: { readonly group: ModelMessage[]; readonly index: number } | undefined;
    let length = WORTH_TRIMMING;
    for (const group of [...this.#earlier, ...this.#turn]) {
      for (const [index, message] of group.entries()) {
        if (message.role !== "tool" || message.content.length <= length) continue;
        largest = { group, index };
        length = message.content.length;
      }
    }
    const message = largest?.group[largest.index];
    if (largest === undefined || message === undefined) return false;
    this.#hasCutResults = true;
    largest.group[largest.index] = { ...message, content: trimmed(message.content) };
    return true;
  }

  #length(): number {
    return this.messages.reduce((sum, { content }) => sum + content.length, 0);
  }
}

/** The head and the tail of a result, with a notice between. A fence around it stays whole: its marks are the first and the last line. */
function trimmed(content: string): string {
  const left = content.length - TRIMMED_HEAD - TRIMMED_TAIL;
  return `${content.slice(0, TRIMMED_HEAD)}\n[${left} characters left out, as the conversation was too long for the model]\n${content.slice(-TRIMMED_TAIL)}`;
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
