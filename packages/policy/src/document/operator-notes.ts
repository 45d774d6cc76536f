import type { PolicyDocument, PolicyOperator } from "../generated/policy.ts";

/** What a policy says of operators and cannot hold, since something else that it needs is missing. */
export function operatorNotes({ operators, keep }: PolicyDocument): string[] {
  const notes = operators.flatMap((operator) =>
    missing(operator).map((what) => `the operator ${operator.name} ${what}`),
  );
  const isKeptForNobody =
    keep !== undefined && keep.tools.length > 0 && !operators.some((operator) => seesKept(operator));
  return isKeptForNobody
    ? [...notes, "arguments and results are kept, and no operator sees them: no sees names arguments or results"]
    : notes;
}

const seesKept = ({ may, sees }: PolicyOperator): boolean =>
  may.includes("read") && (sees.includes("arguments") || sees.includes("results"));

function missing({ name, tokens, may, speaksFor, sees, keys = [] }: PolicyOperator): string[] {
  const looks = sees.includes("arguments") || sees.includes("results");
  return [
    ...(tokens.length === 0 && keys.length === 0 ? [`has no token: ${nobody(name)}`] : []),
    ...(may.includes("call") && speaksFor.length === 0 ? ["may call tools, and speaksFor names no caller"] : []),
    ...(!may.includes("call") && speaksFor.length > 0 ? ["speaks for callers, and may does not name call"] : []),
    ...(keys.length > 0 && !may.includes("decide") ? ["has keys, and may does not name decide"] : []),
    ...(looks && !may.includes("read") ? ["sees arguments or results, and may does not name read"] : []),
  ];
}

const nobody = (name: string): string =>
  name === "local" ? 'who runs "rockbot up" is it, and nobody elsewhere' : "nobody is it";
