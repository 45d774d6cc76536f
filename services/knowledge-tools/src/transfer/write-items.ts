import type { KnowledgeItem } from "../item/knowledge-item.ts";

/** An item as a line of a file that `readItems` reads again. */
export function itemLine({
  id,
  kind,
  title,
  body,
  author,
  categories,
  tags,
  owner,
  space,
  origin,
  createdAt,
  updatedAt,
}: KnowledgeItem): string {
  const times = { created_at: new Date(createdAt).toISOString(), updated_at: new Date(updatedAt).toISOString() };
  return JSON.stringify({
    id,
    kind,
    title,
    author,
    categories,
    tags,
    owner,
    space: space ?? null,
    ...(origin === undefined ? {} : { origin }),
    ...times,
    body,
  });
}
