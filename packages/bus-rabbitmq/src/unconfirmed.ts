/**
 * The messages of one channel that the broker has not spoken about yet, in the order of publishing. It counts them, and so do
 * we: a message's place in the list is its number. A Map would pass over all that it has lost whenever its front is asked for.
 */
export class Unconfirmed<Message extends { readonly body: Uint8Array }> {
  /** Those the broker has spoken about leave a gap. */
  #messages: (Message | undefined)[] = [];
  /** Of the first place in the list. */
  #firstTag = 1;
  /** The place of the oldest message, or behind the last one. */
  #oldest = 0;
  #size = 0;
  #bytes = 0;

  get size(): number {
    return this.#size;
  }

  /** Of all bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  get oldest(): Message | undefined {
    return this.#messages[this.#oldest];
  }

  *[Symbol.iterator](): IterableIterator<Message> {
    for (const message of this.#messages) if (message !== undefined) yield message;
  }

  /** Notes a message that has just been written to the channel. */
  add(message: Message): void {
    this.#messages.push(message);
    this.#size++;
    this.#bytes += message.body.byteLength;
  }

  /** Takes out the message of this tag and, if `isMultiple`, all before it. */
  take(tag: number, isMultiple: boolean): Message[] {
    const taken: Message[] = [];
    const last = Math.min(tag - this.#firstTag, this.#messages.length - 1);
    for (let place = isMultiple ? this.#oldest : Math.max(tag - this.#firstTag, this.#oldest); place <= last; place++) this.#take(place, taken);
    this.#closeGaps();
    return taken;
  }

  #take(place: number, taken: Message[]): void {
    const message = this.#messages[place];
    if (message === undefined) return;
    this.#messages[place] = undefined;
    this.#size--;
    this.#bytes -= message.body.byteLength;
    taken.push(message);
  }

  #closeGaps(): void {
    while (this.#oldest < this.#messages.length && this.#messages[this.#oldest] === undefined) this.#oldest++;
    if (this.#oldest < LONG_GAP || this.#oldest * 2 < this.#messages.length) return;
    this.#messages = this.#messages.slice(this.#oldest);
    this.#firstTag += this.#oldest;
    this.#oldest = 0;
  }
}

/** A shorter gap at the front is not worth a copy of what is behind it. */
const LONG_GAP = 256;
