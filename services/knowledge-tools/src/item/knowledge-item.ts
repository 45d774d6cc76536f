/**
 * One piece of knowledge, as stores keep it. Names keep the case that they were written in; they are compared by
 * `fold`.
 */
export interface KnowledgeItem {
  readonly id: string;
  readonly kind: string;
  readonly title: string;
  readonly body: string;
  readonly author: string;
  readonly categories: readonly string[];
  readonly tags: readonly string[];
  /** The effective caller that saved it: it alone may change it. */
  readonly owner: string;
  /** Whose callers may read it besides the owner; undefined for nobody. */
  readonly space: string | undefined;
  /** Where it was read, if strangers wrote it. Nobody takes that off it. */
  readonly origin: string | undefined;
  /** The time of its making, in Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The space that every caller opens where the policy names none. */
export const SHARED = "shared";

/** The text as every database keeps it: U+FFFD for what is no character, and for U+0000, which PostgreSQL refuses. */
export const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\ufffd");

/** Two names are the same if this makes the same of them. */
export const fold = (name: string): string => storable(name).normalize("NFKC").trim().toLowerCase();
