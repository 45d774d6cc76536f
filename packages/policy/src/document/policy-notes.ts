import { maskLikelySecrets } from "@rockbot/contracts";
import type { PolicyAfterUntrusted, PolicyDocument } from "../generated/policy.ts";
import { entries } from "./document-place.ts";
import { operatorNotes } from "./operator-notes.ts";
import { unnamedCallers } from "./unnamed-callers.ts";

/**
 * Remarks for the operator of a policy, in words that hold no token.
 * @param now Unix milliseconds
 */
export const policyNotes = (document: PolicyDocument, now: number = Date.now()): string[] =>
  [
    ...unnamedCallers(document),
    ...allowedAfterUntrusted(document),
    ...endedTokens(document, now),
    ...operatorNotes(document),
  ].map(maskLikelySecrets);

/** Where nothing stops a model that has read untrusted content and obeys it. */
function allowedAfterUntrusted({ callers, everyone }: PolicyDocument): string[] {
  const own = entries(callers);
  const isDenied = (of: PolicyAfterUntrusted | undefined): boolean => of?.effects === "deny";
  const [denied, allowed] = [true, false].map((is) =>
    own.flatMap(([name, { afterUntrusted = everyone.afterUntrusted }]) =>
      isDenied(afterUntrusted) === is ? [name] : [],
    ),
  ) as [string[], string[]];
  if (isDenied(everyone.afterUntrusted))
    return allowed.length === 0
      ? []
      : [`may use tools with effects after untrusted content was read: ${allowed.join(", ")}`];
  if (denied.length === 0)
    return [
      "nothing is denied after untrusted content was read: set everyone.afterUntrusted to deny tools with effects then",
    ];
  return [`only these callers are denied tools with effects after untrusted content was read: ${denied.join(", ")}`];
}

function endedTokens({ callers, operators }: PolicyDocument, now: number): string[] {
  const holders = [
    ...entries(callers),
    ...operators.map((operator) => [`the operator ${operator.name}`, operator] as const),
  ];
  return holders.flatMap(([name, { tokens }]) => {
    const ended = tokens.flatMap(({ expires }) =>
      expires !== undefined && Date.parse(expires) <= now ? [expires] : [],
    );
    if (ended.length === 0) return [];
    const rest = ended.length === tokens.length ? "and has no other" : `and has ${tokens.length - ended.length} more`;
    return [
      `${name} has ${ended.length === 1 ? "a token that ended" : `${ended.length} tokens that ended, the last`} on ${ended.sort().at(-1)}, ${rest}: it is refused`,
    ];
  });
}
