import { classNamesIn, type Element } from "../tree/dom.ts";
import { laterStates } from "./element-states.ts";

/** Of other selectors nothing is said, as of those with escapes. */
const plainSelectors = /^[ \t\r\n\f\w.#,>+~*:()-]+$/;

/** What the elements of a page are called: `.class`, `#id`, and `name`, in lower case. */
export interface ElementNames {
  readonly all: ReadonlySet<string>;
  /** Of those whose styles are asked for. */
  readonly subjects: ReadonlySet<string>;
}

/**
 * Whether a rule says nothing of the elements whose styles are asked for, as most rules of most sheets do: they name
 * others, or are about states. Reading them is most of what a page's styles cost.
 * @param outline of its selectors, without what is in brackets
 */
export const isUnused = (outline: string, names: ElementNames): boolean =>
  plainSelectors.test(outline) && outline.split(",").every((selector) => isAboutNone(selector, names));

function isAboutNone(selector: string, { all, subjects }: ElementNames): boolean {
  const compounds = selector.trim().split(/[\s>+~]+/);
  return compounds.some((compound, i) => {
    // What has parts and slots need not be asked for itself.
    const known = i === compounds.length - 1 && !compound.includes("::") ? subjects : all;
    return compound.match(/[.#]?[\w-]+|:+[\w-]*/g)?.some((part) => isMissing(part.toLowerCase(), known)) === true;
  });
}

const isMissing = (part: string, known: ReadonlySet<string>): boolean =>
  part.startsWith(":") ? laterStates.has(part.replace(/^::?/, "")) : !known.has(part);

/** What elements are called, as `ElementNames` has it. */
export function namesOf(elements: Iterable<Element>): ReadonlySet<string> {
  const names = new Set<string>();
  const lists = new Set<string>();
  for (const { name, attribs } of elements) {
    const { id, class: list } = attribs;
    names.add(name);
    if (id !== undefined) names.add(`#${id.toLowerCase()}`);
    if (list !== undefined) lists.add(list.toLowerCase());
  }
  for (const list of lists) for (const name of classNamesIn(list)) names.add(`.${name}`);
  return names;
}
