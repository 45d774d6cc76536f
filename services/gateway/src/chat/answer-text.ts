import type { AgentEvent } from "@rockbot/contracts";

/** The line behind which a text begins again, where what stands there cannot be taken back. */
export const AGAIN = "(The answer begins again.)";

/**
 * The text that a stream has carried, held against the answer at its end. The model may write before it calls tools,
 * and events may be lost.
 */
export class AnswerText {
  /** Since the last tool call. */
  #text = "";

  get isBegun(): boolean {
    return this.#text !== "";
  }

  read(events: readonly AgentEvent[]): void {
    for (const { kind, text, dropsText } of events) {
      if (kind === "text") this.#text += text ?? "";
      else if (kind === "tool_started" || dropsText) this.#text = "";
    }
  }

  /**
   * What the client has to get yet to have the answer: its end, or, where something else was written, all of it as a
   * paragraph of its own.
   */
  rest(answer: string): string {
    if (this.#text.endsWith(answer)) return "";
    if (answer.startsWith(this.#text)) return answer.slice(this.#text.length);
    return `\n\n${answer}`;
  }
}
