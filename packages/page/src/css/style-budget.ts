import { PageTooComplexError } from "../page-too-complex-error.ts";

/** Real pages stay below a fifth of it; all of it takes one to two seconds. */
const MAX_STEPS = 20_000_000;
/** What costs more than a look at an element, in such looks, as measured. */
export const steps = {
  /** A selector that cheerio has to read. */
  search: 2_000,
  /** An element that cheerio tries against one. */
  trial: 40,
  /** A sibling that it counts on the way. */
  sibling: 0.5,
  /** The style of an element, where none had the same before. */
  style: 400,
  /** A value that no element of any page had before. */
  value: 1_000,
  /** A character of rules in rules, which are read once more for each rule around them. */
  nested: 5,
  /** A variable that is put in its place. */
  variable: 50,
} as const;

/** What may be done to find a page's styles. One that takes more is refused: what its last rules hide would else be read. */
export class StyleBudget {
  #left = MAX_STEPS;

  /** @throws {PageTooComplexError} once too much was spent */
  spend(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw new PageTooComplexError("more styles than can be read");
  }
}
