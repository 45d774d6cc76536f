import type { Element } from "../tree/dom.ts";
import { inheritedProperties, type Longhand } from "./longhands.ts";
import type { StyleBudget } from "./style-budget.ts";

/**
 * Values by property, in lower case but for the names of variables. What a value takes from elsewhere is worked out,
 * but for inheritance.
 */
export type DeclaredStyle = ReadonlyMap<string, string>;

/**
 * How much declarations count against others: first by their band, then by specificity, then by how near their scope
 * is, then by their order.
 */
export interface Precedence {
  readonly bandOf: BandOf;
  /** @default 0 */
  readonly specificity?: number;
  /** How many elements lie between their scope and the element. @default infinity, as without a scope */
  readonly distance?: number;
}

/** What counts before anything else: importance, and origin, tree and layer. */
type BandOf = (isImportant: boolean) => number;

/** Trees that stand deeper in each other count as this deep. */
const MAX_DEPTH = 100;

/**
 * The bands of a page. An outer tree counts more than one in it, and a later layer more than an earlier one; what is
 * important, the other way round. Attributes that say how an element looks count least, and style attributes more than
 * all rules of their tree.
 * @param highestRank of layers
 */
export function bandsFor(highestRank: number): {
  readonly hints: BandOf;
  inline(depth: number): BandOf;
  rule(depth: number, rank: number): BandOf;
} {
  const ranks = highestRank + 2;
  const band = (depth: number, normal: number, important: number): BandOf => {
    const own = Math.min(depth, MAX_DEPTH);
    return (isImportant) =>
      isImportant ? 1 + (MAX_DEPTH + 1 + own) * ranks + important : 1 + (MAX_DEPTH - own) * ranks + normal;
  };
  return {
    hints: () => 0,
    inline: (depth) => band(depth, highestRank + 1, highestRank + 1),
    rule: (depth, rank) => band(depth, rank, highestRank - rank),
  };
}

interface Said {
  readonly elements: readonly Element[];
  readonly longhands: readonly Longhand[];
  readonly band: number;
  readonly layer: number;
  readonly specificity: number;
  readonly distance: number;
}

/** A value, and the one that counted before its band. */
interface Declared {
  value: string;
  readonly band: number;
  /** Its layer's band of what is not important. */
  readonly layer: number;
  readonly below: Declared | undefined;
}

/** Collects what is said of elements, and tells what counts. @see https://drafts.csswg.org/css-cascade/#cascade-sort */
export class Cascade {
  readonly #said: Said[] = [];
  readonly #budget: StyleBudget;

  constructor(budget: StyleBudget) {
    this.#budget = budget;
  }

  say(
    elements: readonly Element[],
    longhands: readonly Longhand[],
    { bandOf, specificity = 0, distance = Number.POSITIVE_INFINITY }: Precedence,
  ): void {
    if (elements.length === 0) return;
    for (const isImportant of [false, true]) {
      const own = longhands.filter((longhand) => longhand.isImportant === isImportant);
      if (own.length > 0)
        this.#said.push({
          elements,
          longhands: own,
          band: bandOf(isImportant),
          layer: bandOf(false),
          specificity,
          distance,
        });
    }
  }

  styles(): ReadonlyMap<Element, DeclaredStyle> {
    const found = new Map<Element, Map<string, Declared>>();
    // What counts more comes later. Sorting keeps the order of what counts the same.
    for (const { elements, longhands, band, layer } of this.#said.sort(
      (a, b) => a.band - b.band || a.specificity - b.specificity || farther(a, b),
    )) {
      this.#budget.spend(elements.length * longhands.length);
      for (const element of elements) {
        const own = found.get(element) ?? new Map<string, Declared>();
        found.set(element, own);
        for (const { name, value } of longhands) {
          const known = own.get(name);
          if (known?.band === band) known.value = value;
          else own.set(name, { value, band, layer, below: known });
        }
      }
    }
    return new Map(
      [...found].map(([element, own]) => [
        element,
        new Map([...own].flatMap(([name, declared]) => computed(name, declared))),
      ]),
    );
  }
}

const farther = (a: Said, b: Said): number => (a.distance === b.distance ? 0 : b.distance > a.distance ? 1 : -1);

/** What is left of a value once it is known what it takes from elsewhere; nothing where that is what it is anyway. */
function computed(name: string, declared: Declared): readonly (readonly [string, string])[] {
  let said: Declared | undefined = declared;
  while (said?.value === "revert-layer") said = belowLayer(said);
  if (said === undefined || said.value === "revert") return [];
  const value = said.value === "initial" || said.value === "unset" ? withoutValue(name, said.value) : said.value;
  return value === undefined ? [] : [[name, value]];
}

function belowLayer({ layer, below }: Declared): Declared | undefined {
  let at = below;
  while (at !== undefined && at.layer >= layer) at = at.below;
  return at;
}

/** What a property is that is said to have no value of its own; undefined where nothing is said is the same. */
export function withoutValue(name: string, said: "initial" | "unset"): string | undefined {
  if (name.startsWith("--")) return said === "initial" ? said : undefined;
  return said === "unset" && inheritedProperties.has(name) ? "inherit" : initials[name];
}

const initials: Readonly<Record<string, string>> = {
  ...{
    display: "inline",
    visibility: "visible",
    color: "black",
    "-webkit-text-fill-color": "currentcolor",
    "font-size": "medium",
  },
};
