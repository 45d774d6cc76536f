import { ToolError } from "@rockbot/contracts";

/** One package that a script wants. */
export interface Requirement {
  /** The package's name in the index. */
  readonly name: string;
  /** The argument for pip: name, extras and version clauses, nothing else. */
  readonly text: string;
}

const NAME = /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/i;
const LONGEST = 200;
const CLAUSE = /^(~=|==|!=|<=|>=|<|>)\s*(\S+)$/;

/** A version of PEP 440, in the forms that indexes give; `.*` may follow after `==` or `!=`. */
const VERSION =
  /^v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?$/i;

/** The one form of a package's name. @see PEP 503 */
export const normalizedName = (name: string): string => name.replace(/[-_.]+/g, "-").toLowerCase();

/**
 * Reads what a script wants installed: names, extras and version clauses of PEP 508. Addresses, paths, options of pip
 * and markers are none of it.
 * @returns each once, in one order whatever theirs was
 * @throws {ToolError} `invalid_arguments`, with all that is wrong
 */
export function parseRequirements(
  texts: readonly string[],
  { maxPackages }: { readonly maxPackages: number },
): readonly Requirement[] {
  const faults = texts.length > maxPackages ? [`expected at most ${maxPackages} packages, got ${texts.length}`] : [];
  const requirements = new Map<string, Requirement>();
  for (const text of texts.slice(0, maxPackages)) {
    const read = parseRequirement(text);
    if (typeof read === "string") faults.push(`${JSON.stringify(text.slice(0, 80))}: ${read}`);
    else requirements.set(read.text, read);
  }
  if (faults.length > 0) {
    throw new ToolError("invalid_arguments", `Cannot install the packages: ${faults.join("; ")}`, {
      details: { reason: "invalid_packages", faults },
    });
  }
  return [...requirements.values()].sort((one, other) => (one.text < other.text ? -1 : 1));
}

/** @returns what is wrong, if it cannot be read */
function parseRequirement(text: string): Requirement | string {
  if (text.length > LONGEST) return `longer than ${LONGEST} characters`;
  const [, name = "", extras, clauses = ""] =
    /^\s*([^\s[\]~=!<>,;@()]+)\s*(?:\[([^\]]*)\])?\s*\(?([^()]*)\)?\s*$/.exec(text) ?? [];
  if (!NAME.test(name))
    return "expected the name of a package, such as numpy or numpy==2.3.5; addresses, paths and options are not taken";
  if (clauses.includes(";")) return "expected no marker after it: the script runs in one environment";
  if (clauses.trimStart().startsWith("@")) return "expected no address: packages come from the configured index only";
  const extraNames = extras === undefined ? [] : extras.split(",").map((extra) => extra.trim());
  if (!extraNames.every((extra) => NAME.test(extra))) return "expected extras as names, such as [socks]";
  const versions = clauses.trim() === "" ? [] : clauses.split(",").map((clause) => clause.trim());
  const wrong = versions.find((clause) => !isVersionClause(clause));
  if (wrong !== undefined) return `expected a version clause such as ==2.3.5 or >=2,<3, got ${JSON.stringify(wrong)}`;
  const extrasText = extraNames.length === 0 ? "" : `[${extraNames.map(normalizedName).sort().join(",")}]`;
  return {
    name: normalizedName(name),
    text: `${normalizedName(name)}${extrasText}${versions
      .map((clause) => clause.replace(/\s+/g, ""))
      .sort()
      .join(",")}`,
  };
}

function isVersionClause(clause: string): boolean {
  const [, operator = "", version = ""] = CLAUSE.exec(clause) ?? [];
  const mayEndInAny = operator === "==" || operator === "!=";
  return VERSION.test(mayEndInAny ? version.replace(/\.\*$/, "") : version);
}
