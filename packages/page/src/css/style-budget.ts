import { PageTooComplexError } from "../page-too-complex-error.ts";

/** Real pages stay below a fifth of it; all of it takes one to two seconds. */
const MAX_STEPS = 20_000_000;
/** What costs other than a look at an element, in such looks, as measured. */
export const steps = {
  /** A character of selectors that has to be read. */
  selector: 30,
  /** A sibling that is passed by. */
  sibling: 1 / 8,
  /** A character of an attribute that is compared. */
  compared: 1 / 32,
  /** A declaration of an element. */
  kept: 10,
  /** The style of an element, where none had the same before. */
  style: 400,
  /** A value that no element of any page had before. */
  value: 1_000,
  /** A variable that is put in its place. */
  variable: 50,
} as const;

/**
 * What may be done to find a page's styles. One that takes more is refused: what its last rules hide would else be
 * read.
 */
export class StyleBudget {
  #left = MAX_STEPS;

  /** @throws {PageTooComplexError} once too much was spent */
  spend(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw new PageTooComplexError("more styles than can be read");
  }
}
