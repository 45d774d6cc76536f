/** A place in a list. */
export interface ListEntry {
  /** Takes it out of its list; once it is out, nothing happens. */
  remove(): void;
}

/**
 * A list in the order of arrival, for values that come and go by the thousand. A Set finds its entries by a hash, and
 * rebuilds its table after every few removals. SlotMap says what that costs the collector. Here an entry knows its
 * neighbours.
 */
export class LinkedList<Value> implements Iterable<Value> {
  /** The link before the oldest value and behind the newest. */
  readonly #ends = new Link<Value>();

  get isEmpty(): boolean {
    return this.#ends.next === this.#ends;
  }

  /** Adds it as the newest. */
  add(value: Value): ListEntry {
    return new Link(value, this.#ends);
  }

  /** Takes out the one that has been there longest. */
  takeOldest(): Value | undefined {
    const { next } = this.#ends;
    const { value } = next;
    next.remove(); // nothing, if there is none
    return value;
  }

  /** Takes out all, and what is added meanwhile. */
  *drain(): IterableIterator<Value> {
    while (!this.isEmpty) yield this.takeOldest() as Value;
  }

  /** Oldest first. The list must not change meanwhile. */
  *[Symbol.iterator](): IterableIterator<Value> {
    for (let link = this.#ends.next; link !== this.#ends; link = link.next) yield link.value as Value;
  }
}

/** Alone it is its own neighbour. */
class Link<Value> implements ListEntry {
  /** None once it is out: an entry that lives long as garbage would keep it alive. */
  value: Value | undefined;
  previous: Link<Value> = this;
  next: Link<Value> = this;

  constructor(value?: Value, next?: Link<Value>) {
    this.value = value;
    if (next === undefined) return;
    this.next = next;
    this.previous = next.previous;
    this.previous.next = this;
    next.previous = this;
  }

  remove(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.previous = this;
    this.next = this;
    this.value = undefined;
  }
}
