const OPENING = /^\s*<(think|thinking|thought|reasoning)>/;
const NAMES = ["<think>", "<thinking>", "<thought>", "<reasoning>"];

/**
 * Takes what a model thinks out of the beginning of its text: servers that know nothing of thoughts hand them on as
 * words, between marks. Elsewhere in a text the marks are words like others.
 */
export class LeadingThought {
  /** Text of which it is not known yet whether it is shown; undefined once all is. */
  #held: string | undefined = "";
  /** The mark that ends the thought, while there is one. */
  #closing: string | undefined;
  #hasThought = false;

  /** @returns what is to be shown of the text so far, and was not returned before */
  show(delta: string): string {
    if (this.#held === undefined) return delta;
    this.#held += delta;
    while (this.#takeMark());
    return this.#closing !== undefined || isBeginning(this.#held) ? "" : this.rest();
  }

  /** What was held back, once the text is over. */
  rest(): string {
    const held = this.#held ?? "";
    this.#held = undefined;
    if (this.#closing !== undefined) return "";
    return this.#hasThought ? held.trimStart() : held;
  }

  /** Takes a whole mark from the beginning of what is held, and the thought before it. */
  #takeMark(): boolean {
    const held = this.#held ?? "";
    if (this.#closing === undefined) {
      const opening = OPENING.exec(held);
      if (opening === null) return false;
      this.#closing = `</${opening[1]}>`;
      this.#held = held.slice(opening[0].length);
      return true;
    }
    const end = held.indexOf(this.#closing);
    // Of a thought only what may be the beginning of its mark is kept.
    this.#held = end === -1 ? held.slice(-this.#closing.length) : held.slice(end + this.#closing.length);
    if (end === -1) return false;
    this.#closing = undefined;
    this.#hasThought = true;
    return true;
  }
}

function isBeginning(text: string): boolean {
  const start = text.trimStart();
  return start === "" || NAMES.some((name) => name.startsWith(start));
}
