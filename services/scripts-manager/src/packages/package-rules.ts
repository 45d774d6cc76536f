import { ToolError } from "@rockbot/contracts";
import { normalizedName } from "./requirement.ts";

export interface PackageRules {
  /** Names of packages; `*` for all. What is not named is denied, also where another package needs it. */
  readonly allow: readonly string[];
  /** Denied though they are allowed. */
  readonly deny: readonly string[];
}

/**
 * @throws {ToolError} `denied`, with all names that are; `needed` tells those that were asked for from those that
 * others need
 */
export function checkPackages(
  names: readonly string[],
  { allow, deny }: PackageRules,
  needed: "asked" | "needed",
): void {
  const [allowed, denied] = [new Set(allow.map(normalizedName)), new Set(deny.map(normalizedName))];
  const refused = names.filter((name) => denied.has(name) || !(allowed.has("*") || allowed.has(name)));
  if (refused.length === 0) return;
  const list = [...new Set(refused)].sort().join(", ");
  const words =
    needed === "asked"
      ? `Cannot install ${list}: not allowed here. Do without, or ask the operator to allow it`
      : `Cannot install the packages: they need ${list}, not allowed here. Do without them, or ask the operator to allow it`;
  throw new ToolError("denied", words, {
    details: { reason: "package_denied", packages: [...new Set(refused)].sort() },
  });
}
