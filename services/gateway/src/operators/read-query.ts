/** What the query of a list may have. */
export interface ListQuery {
  /** The texts that narrow the list. */
  readonly texts: readonly string[];
  /** Names of further texts, which the list reads itself. */
  readonly others: readonly string[];
  readonly limit: number;
  readonly maxLimit: number;
}

const TIMES = ["before", "after"] as const;
const MAX_TEXT = 256;

/** Reads the query of a list. A text that is empty narrows nothing. @returns also its faults, in words */
export function readQuery(query: URLSearchParams, { texts, others, limit: unlessGiven, maxLimit }: ListQuery) {
  const known = ["limit", "cursor", ...others, ...texts, ...TIMES];
  const faults = [...new Set(query.keys())].flatMap((name) =>
    !known.includes(name)
      ? [`${JSON.stringify(name.slice(0, 80))} is none of ${known.join(", ")}`]
      : query.getAll(name).length > 1
        ? [`${name} stands there more than once`]
        : [],
  );
  const limit = Number(query.get("limit") ?? unlessGiven);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit)
    faults.push(`limit is a whole number from 1 to ${maxLimit}`);
  const filter: Record<string, string | number> = {};
  for (const name of texts) {
    const text = query.get(name) ?? "";
    if (text.length > MAX_TEXT) faults.push(`${name} has at most ${MAX_TEXT} characters`);
    if (text !== "") filter[name] = text;
  }
  for (const name of TIMES) {
    const text = query.get(name);
    if (text === null) continue;
    if (/^\d{1,15}$/.test(text)) filter[name] = Number(text);
    else faults.push(`${name} is a time in Unix milliseconds`);
  }
  return { filter, limit, faults };
}
