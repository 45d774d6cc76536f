import type { Attributes, AttributeValue } from "@opentelemetry/api";

/** More sets of attributes than this share one cell, as in the SDK. */
const MAX_CELLS = 2_000;
export const NO_ATTRIBUTES: Attributes = Object.freeze({});
const OVERFLOW: Attributes = { "otel.metric.overflow": true };

interface Step<Cell> {
  /** The steps by the next attribute's name, then by its value. */
  readonly next: Map<string, Map<AttributeValue | undefined, Step<Cell>>>;
  cell: Cell | undefined;
}

/**
 * The value that is kept for each set of attributes. The set is found attribute by attribute. The SDK makes a text of
 * the set to find it, which costs ten times as much. A frozen set that comes again is found at once.
 */
export class AttributeCells<Cell> {
  readonly #make: () => Cell;
  readonly #root: Step<Cell> = newStep();
  readonly #cells = new Map<string, { readonly attributes: Attributes; readonly cell: Cell }>();
  #paths = 0;
  /** Cells of frozen attributes without lists: such an object always means the same. */
  readonly #ofFrozen = new WeakMap<Attributes, Cell>();
  /** The frozen ones that came last, which are most likely to come next. */
  #lastFrozen: Attributes | undefined;
  #lastCell: Cell | undefined;

  constructor(make: () => Cell) {
    this.#make = make;
  }

  /** The cell of these attributes, in whatever order they are named. */
  at(attributes: Attributes): Cell {
    if (attributes === this.#lastFrozen) return this.#lastCell as Cell;
    let cell = this.#ofFrozen.get(attributes);
    if (cell === undefined) {
      cell = this.#walk(attributes);
      if (!Object.isFrozen(attributes) || hasLists(attributes)) return cell;
      this.#ofFrozen.set(attributes, cell);
    }
    this.#lastFrozen = attributes;
    this.#lastCell = cell;
    return cell;
  }

  #walk(attributes: Attributes): Cell {
    let step: Step<Cell> | undefined = this.#root;
    for (const name in attributes) {
      step = step.next.get(name)?.get(attributes[name]);
      if (step === undefined) return this.#find(attributes);
    }
    return step.cell ?? this.#find(attributes);
  }

  entries(): Iterable<{ readonly attributes: Attributes; readonly cell: Cell }> {
    return this.#cells.values();
  }

  #find(attributes: Attributes): Cell {
    const cell = this.#cellOf(attributes);
    // Lists are compared by identity on the way, so they have none; and the ways to a cell are bounded like the cells.
    if (this.#paths < MAX_CELLS && !hasLists(attributes)) this.#pave(attributes, cell);
    return cell;
  }

  #cellOf(attributes: Attributes): Cell {
    const text = JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
    const known = this.#cells.get(text);
    if (known !== undefined) return known.cell;
    if (this.#cells.size >= MAX_CELLS - 1 && attributes !== OVERFLOW) return this.#cellOf(OVERFLOW);
    const cell = this.#make();
    this.#cells.set(text, { attributes: { ...attributes }, cell });
    return cell;
  }

  #pave(attributes: Attributes, cell: Cell): void {
    this.#paths++;
    let step = this.#root;
    for (const name in attributes) {
      const values = step.next.get(name) ?? new Map<AttributeValue | undefined, Step<Cell>>();
      step.next.set(name, values);
      const next: Step<Cell> = values.get(attributes[name]) ?? newStep();
      values.set(attributes[name], next);
      step = next;
    }
    step.cell = cell;
  }
}

const hasLists = (attributes: Attributes): boolean =>
  Object.values(attributes).some((value) => typeof value === "object");

const newStep = <Cell>(): Step<Cell> => ({ next: new Map(), cell: undefined });
