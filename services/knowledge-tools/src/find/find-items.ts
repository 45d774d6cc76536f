import type { KnowledgeItem } from "../item/knowledge-item.ts";
import type { KnowledgeStore, MatchQuery } from "../store/knowledge-store.ts";

/** Finds items: first those with all terms, then those with all but one, then those with any. Within each of these, the store's order holds. */
export async function findItems(store: KnowledgeStore, { terms, facets, limit }: Omit<MatchQuery, "atLeast">): Promise<readonly KnowledgeItem[]> {
  if (terms.length === 0) return [];
  const levels = [...new Set([terms.length, Math.max(terms.length - 1, 1), 1])];
  const ids = new Set<string>();
  for (const atLeast of levels) {
    if (ids.size >= limit) break;
    for (const id of await store.match({ terms, atLeast, facets, limit })) ids.add(id);
  }
  return store.get([...ids].slice(0, limit));
}
