import { isDeepStrictEqual } from "node:util";
import { scopesOf } from "../item/facets.ts";
import { fold, type KnowledgeItem } from "../item/knowledge-item.ts";
import { type Label, type LabelQuery, OtherOwnerError } from "./knowledge-store.ts";

/**
 * What is to be kept of an item that is saved over another.
 * @returns undefined if that changes nothing
 * @throws {OtherOwnerError}
 */
export function mergeItem(known: KnowledgeItem | undefined, item: KnowledgeItem): KnowledgeItem | undefined {
  if (known === undefined) return item;
  if (known.owner !== item.owner) throw new OtherOwnerError(item.id);
  const merged: KnowledgeItem = { ...item, origin: known.origin ?? item.origin, createdAt: known.createdAt };
  return isDeepStrictEqual({ ...merged, updatedAt: known.updatedAt }, known) ? undefined : merged;
}

/** By how much an item count of a label changes. */
export interface LabelChange extends Label, Pick<LabelQuery, "kind"> {
  readonly scope: string;
  readonly by: number;
}

/**
 * Adds up what saves change of labels. Their order is the same in every process, so that none waits for another that
 * waits for it.
 */
export class LabelChanges {
  readonly #changes = new Map<string, LabelChange>();

  replace(known: KnowledgeItem | undefined, item: KnowledgeItem): void {
    if (known !== undefined) this.#add(known, -1);
    this.#add(item, 1);
  }

  take(): readonly LabelChange[] {
    const changes = [...this.#changes]
      .filter(([, { by }]) => by !== 0)
      .sort(([one], [other]) => (one < other ? -1 : 1));
    this.#changes.clear();
    return changes.map(([, change]) => change);
  }

  #add(item: KnowledgeItem, by: number): void {
    const categories = new Map(item.categories.map((name) => [fold(name), name]));
    const labels = [
      ["author", fold(item.author), item.author],
      ...[...categories].map(([folded, name]) => ["category", folded, name]),
    ] as const;
    for (const scope of scopesOf(item)) {
      for (const [kind = "", folded = "", name = ""] of labels) {
        const key = JSON.stringify([scope, kind, folded]);
        const change = {
          scope,
          kind: kind as LabelQuery["kind"],
          folded,
          name,
          by: (this.#changes.get(key)?.by ?? 0) + by,
        };
        this.#changes.set(key, change);
      }
    }
  }
}
