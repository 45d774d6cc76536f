import type { Policy, Readers } from "@rockbot/policy";
import { facet } from "./facets.ts";
import { type KnowledgeItem, SHARED } from "./knowledge-item.ts";

/** What a caller may read: its own items, and those of the spaces that the policy opens for it. */
export class Reader {
  readonly caller: string;
  readonly spaces: readonly string[];

  /** @param policy without one, all callers open the space `shared` */
  constructor(caller: string, policy: Policy<Readers<"spaces">> | undefined) {
    this.caller = caller;
    this.spaces = policy?.spacesOf(caller) ?? [SHARED];
  }

  /** An item is visible that has one of these facets. */
  get scopes(): readonly string[] {
    return [facet("owner", this.caller), ...this.spaces.map((space) => facet("space", space))];
  }

  sees({ owner, space }: KnowledgeItem): boolean {
    return owner === this.caller || (space !== undefined && this.spaces.includes(space));
  }
}

/** The facets of what every caller may read: only that may be announced, as everybody hears announcements. */
export const commonScopes = (policy: Policy<Readers<"spaces">> | undefined): readonly string[] =>
  (policy?.commonSpaces() ?? [SHARED]).map((space) => facet("space", space));
