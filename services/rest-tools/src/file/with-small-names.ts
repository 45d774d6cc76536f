import { isRecord } from "@rockbot/base";

/** Below these the names are the operator's, or mean something to others: they stay as they are. */
const OPAQUE: ReadonlySet<string> = new Set([
  "parametersSchema",
  "headers",
  "query",
  "body",
  "accounts",
  "serverVariables",
]);
const NAMED: ReadonlySet<string> = new Set(["credentials", "tools", "openapi", "operations"]);

/**
 * The file's content with names of properties as the schema has them: `UrlTemplate`, as the .NET original writes, is
 * `urlTemplate`.
 */
export const withSmallNames = (value: unknown): unknown => renamed(value, true);

function renamed(value: unknown, isOurs: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, isOurs));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => {
    const name = isOurs ? key.charAt(0).toLowerCase() + key.slice(1) : key;
    if (isOurs && OPAQUE.has(name)) return [name, inner];
    return [name, renamed(inner, !(isOurs && NAMED.has(name)))];
  });
  return Object.fromEntries(entries);
}
