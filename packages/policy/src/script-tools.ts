import type { PolicyDocument, PolicyEveryone } from "./generated/policy.ts";

/** The tools that scripts of a caller may call, as far as the caller may. @param own the caller's entry */
export const scriptToolsOf = (
  { everyone }: Pick<PolicyDocument, "everyone">,
  own: Pick<PolicyEveryone, "scripts"> | undefined,
): readonly string[] => (own?.scripts ?? everyone.scripts)?.allow ?? [];
