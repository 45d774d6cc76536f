/** The messages of one channel that the broker has not spoken about yet, in the order of publishing. It counts them, and so do we. */
export class Unconfirmed<Message extends { readonly body: Uint8Array }> {
  readonly #messages = new Map<number, Message>();
  #lastTag = 0;
  #bytes = 0;

  get size(): number {
    return this.#messages.size;
  }

  /** Of all bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  get oldest(): Message | undefined {
    return this.#messages.values().next().value;
  }

  [Symbol.iterator](): Iterator<Message> {
    return this.#messages.values();
  }

  /** Notes a message that has just been written to the channel. */
  add(message: Message): void {
    this.#messages.set(++this.#lastTag, message);
    this.#bytes += message.body.byteLength;
  }

  /** Takes out the message of this tag and, if `isMultiple`, all before it. */
  take(tag: number, isMultiple: boolean): Message[] {
    const taken: Message[] = [];
    if (!isMultiple) {
      const message = this.#messages.get(tag);
      if (message !== undefined) this.#take(tag, message, taken);
      return taken;
    }
    for (const [older, message] of this.#messages) {
      if (older > tag) break;
      this.#take(older, message, taken);
    }
    return taken;
  }

  #take(tag: number, message: Message, taken: Message[]): void {
    this.#messages.delete(tag);
    this.#bytes -= message.body.byteLength;
    taken.push(message);
  }
}
