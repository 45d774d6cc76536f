import { fold, type KnowledgeItem } from "./knowledge-item.ts";

/** What an item is found by besides its words. */
export type FacetKind = "kind" | "author" | "category" | "tag" | "owner" | "space";

/** A facet as indexes hold it. */
export const facet = (kind: FacetKind, name: string): string =>
  `${kind}:${kind === "owner" || kind === "space" ? name : fold(name)}`;

export function facetsOf({
  kind,
  author,
  categories,
  tags,
  owner,
  space,
}: Pick<KnowledgeItem, "kind" | "author" | "categories" | "tags" | "owner" | "space">): string[] {
  const all = [
    facet("kind", kind),
    facet("author", author),
    ...categories.map((name) => facet("category", name)),
    ...tags.map((name) => facet("tag", name)),
    ...scopesOf({ owner, space }),
  ];
  return [...new Set(all)];
}

/** The facets by which readers may see it. */
export const scopesOf = ({ owner, space }: Pick<KnowledgeItem, "owner" | "space">): string[] => [
  facet("owner", owner),
  ...(space === undefined ? [] : [facet("space", space)]),
];
