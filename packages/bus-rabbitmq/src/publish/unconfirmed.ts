import { TagWindow } from "../wire/tag-window.ts";

/**
 * The messages of one channel that the broker has not spoken about yet, in the order of publishing. It counts them, and
 * so do we: the first is number 1.
 */
export class Unconfirmed<Message extends { readonly body: Uint8Array }> {
  readonly #messages = new TagWindow<Message>();
  #size = 0;
  #bytes = 0;

  get size(): number {
    return this.#size;
  }

  /** The bytes of all bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  get oldest(): Message | undefined {
    return this.#messages.get(this.#messages.start);
  }

  [Symbol.iterator](): IterableIterator<Message> {
    return this.#messages[Symbol.iterator]();
  }

  /** Notes a message that has just been written to the channel. */
  add(message: Message): void {
    this.#messages.set(this.#messages.end, message);
    this.#size++;
    this.#bytes += message.body.byteLength;
  }

  /** Takes out the message of this tag and, if `isMultiple`, all before it. */
  take(tag: number, isMultiple: boolean): Message[] {
    const taken: Message[] = [];
    const last = Math.min(tag, this.#messages.end - 1);
    for (let at = isMultiple ? this.#messages.start : tag; at <= last; at++) {
      const message = this.#messages.get(at);
      if (message === undefined) continue;
      this.#messages.delete(at);
      this.#size--;
      this.#bytes -= message.body.byteLength;
      taken.push(message);
    }
    return taken;
  }
}
