import { entries } from "./document/document-place.ts";
import type { Policy } from "./policy.ts";
import { globCovers, globsMeet } from "./tool-glob.ts";

/** True if a caller may use a tool that fits a pattern, as far as can be known without the tools. */
export function mayUseSome(
  { document: { everyone, callers } }: Pick<Policy, "document">,
  caller: string,
  glob: string,
): boolean {
  const own = new Map(entries(callers)).get(caller);
  const isDenied = [...(everyone.deny ?? []), ...(own?.deny ?? [])].some((denied) => globCovers(denied, glob));
  return !isDenied && (own?.allow ?? everyone.allow).some((allowed) => globsMeet(allowed, glob));
}
