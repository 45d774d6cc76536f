import { nearestName } from "@rockbot/contracts";
import { facet } from "../item/facets.ts";
import { fold } from "../item/knowledge-item.ts";
import type { KnowledgeStore, LabelQuery } from "../store/knowledge-store.ts";

/** The filters of a search, as a caller names them. */
export interface NamedFilters {
  readonly kinds: readonly string[];
  readonly authors: readonly string[];
  readonly categories: readonly string[];
  readonly tags: readonly string[];
}

/** What of the filters can be used, and what is wrong with the rest. */
export interface Filters {
  /** A group for each filter of which something is known. */
  readonly facets: readonly (readonly string[])[];
  readonly errors: readonly string[];
}

export interface ResolveFiltersParts {
  readonly store: KnowledgeStore;
  readonly kinds: readonly string[];
  /** What the caller may see: names of other items are not known to it. */
  readonly scopes: readonly string[];
}

/** Names that an error lists at most. */
const MAX_LISTED = 20;

/**
 * Takes each name that is known, and collects an error for each filter with others. Tags are free, so that any will do.
 */
export async function resolveFilters(
  { kinds, authors, categories, tags }: NamedFilters,
  { store, kinds: known, scopes }: ResolveFiltersParts,
): Promise<Filters> {
  const labels = (kind: LabelQuery["kind"]) => async (folded: readonly string[] | undefined) =>
    // Names that an error lists are our own; by others items are found all the same.
    (
      await store.labels({
        kind,
        scopes,
        folded,
        areOurs: folded === undefined,
        limit: folded?.length ?? MAX_LISTED + 1,
      })
    ).map(({ name }) => name);
  const handles = authors.map((name) => name.trim().replace(/^@/, ""));
  const parts = await Promise.all([
    resolve("kinds", kinds, { facetKind: "kind", known: async () => known }),
    resolve("authors", handles, { facetKind: "author", known: labels("author") }),
    resolve("categories", categories, { facetKind: "category", known: labels("category") }),
  ]);
  const tagged = tags.map((name) => facet("tag", name));
  return {
    facets: [
      ...parts.flatMap(({ facets }) => (facets.length === 0 ? [] : [facets])),
      ...(tagged.length === 0 ? [] : [tagged]),
    ],
    errors: parts.flatMap(({ error }) => error ?? []),
  };
}

interface Known {
  readonly facetKind: "kind" | "author" | "category";
  /** The names among these that are known; without names, some that are. */
  known(folded: readonly string[] | undefined): Promise<readonly string[]>;
}

async function resolve(
  filter: string,
  names: readonly string[],
  { facetKind, known }: Known,
): Promise<{ readonly facets: readonly string[]; readonly error?: string }> {
  if (names.length === 0) return { facets: [] };
  const found = new Set((await known(names.map(fold))).map(fold));
  const right = names.filter((name) => found.has(fold(name)));
  const wrong = names.filter((name) => !found.has(fold(name)));
  const facets = [...new Set(right.map((name) => facet(facetKind, name)))];
  if (wrong.length === 0) return { facets };
  return { facets, error: errorText(filter, { wrong, hasRight: right.length > 0, there: await known(undefined) }) };
}

function errorText(
  filter: string,
  {
    wrong,
    hasRight,
    there,
  }: { readonly wrong: readonly string[]; readonly hasRight: boolean; readonly there: readonly string[] },
): string {
  const meant = wrong.flatMap((name) => nearestName(name, there) ?? []);
  const listed = there.slice(0, MAX_LISTED);
  return [
    `invalid ${filter}: ${wrong.map((name) => JSON.stringify(name)).join(", ")}.`,
    ...(meant.length > 0
      ? [`Did you mean ${[...new Set(meant)].map((name) => JSON.stringify(name)).join(", ")}?`]
      : []),
    listed.length === 0
      ? `There are no ${filter} to name.`
      : `There are: ${listed.join(", ")}${there.length > MAX_LISTED ? ", and others" : ""}.`,
    hasRight ? "The search used the others." : `The search was not narrowed by ${filter}.`,
  ].join(" ");
}
