import { createHash, timingSafeEqual } from "node:crypto";
import { entries } from "./document/document-place.ts";
import type { PolicyDocument, PolicyToken } from "./generated/policy.ts";

/** The holders of bearer tokens. */
export interface TokenHolders {
  /** How many tokens there are, also of those that have ended. */
  readonly size: number;
  /**
   * The name of the holder. Takes the same time whatever the token is.
   * @param now Unix milliseconds
   * @returns `expired` if the token has ended, undefined if it is nobody's
   */
  find(token: string, now: number): { readonly holder: string; readonly isExpired: boolean } | undefined;
}

/** The callers' tokens: what they show at the gateway. */
export const callerTokens = (document: PolicyDocument): TokenHolders =>
  remembered(byCallers, document, () => entries(document.callers));

/** The operators' tokens. One never opens the gateway as a caller, nor the other way round. */
export const operatorTokens = (document: PolicyDocument): TokenHolders =>
  remembered(byOperators, document, () => document.operators.map((operator) => [operator.name, operator]));

const byCallers = new WeakMap<PolicyDocument, TokenHolders>();
const byOperators = new WeakMap<PolicyDocument, TokenHolders>();

type Holder = readonly [name: string, { readonly tokens: readonly PolicyToken[] }];

function remembered(
  made: WeakMap<PolicyDocument, TokenHolders>,
  document: PolicyDocument,
  read: () => readonly Holder[],
): TokenHolders {
  const known = made.get(document);
  if (known !== undefined) return known;
  const holders = createTokenHolders(read());
  made.set(document, holders);
  return holders;
}

function createTokenHolders(holders: readonly Holder[]): TokenHolders {
  const all = holders.flatMap(([holder, { tokens }]) =>
    tokens.map(({ hash, expires }) => ({
      holder,
      digest: Buffer.from(hash.slice("sha256:".length), "hex"),
      endsAt: expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires),
    })),
  );
  return {
    size: all.length,
    find(token, now) {
      const digest = createHash("sha256").update(token).digest();
      let found: (typeof all)[number] | undefined;
      for (const candidate of all) if (timingSafeEqual(candidate.digest, digest)) found = candidate; // to the end, found or not
      return found === undefined ? undefined : { holder: found.holder, isExpired: now >= found.endsAt };
    },
  };
}
