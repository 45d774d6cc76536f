import type { KeptRecord } from "../records/record-store.ts";

/** A skill: how something is done, in markdown, as a caller has written it down for later. */
export interface KeptSkill extends KeptRecord {
  /** What it is for, in a line. */
  readonly summary: string;
  readonly tags: readonly string[];
  /** As it was saved, with its front matter. */
  readonly content: string;
}
