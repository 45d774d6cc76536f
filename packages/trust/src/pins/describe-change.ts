import type { SeenTool } from "./pin.ts";

const MAX_CHANGES = 30;
const MAX_SHOWN = 160;
const MAX_DEPTH = 64;

/**
 * The changes between two definitions, or the words of a new one, a line each, for a person who decides about it. The
 * texts are a stranger's and not cleaned for a terminal.
 */
export function describeChange(before: SeenTool | undefined, after: SeenTool): string[] {
  if (before === undefined) return describeNew(after);
  const changes: string[] = [];
  compare("", before, after, changes);
  if (changes.length === 0) return ["nothing that is kept of it has changed"];
  return changes.length <= MAX_CHANGES
    ? changes
    : [...changes.slice(0, MAX_CHANGES), `… and ${changes.length - MAX_CHANGES} more changes`];
}

function describeNew({ title, description, inputSchema, annotations }: SeenTool): string[] {
  const { properties } = inputSchema as { readonly properties?: unknown };
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  return [
    ...(title === undefined ? [] : [`title: ${shown(title)}`]),
    `description: ${shown(description, 2_000)}`,
    `arguments: ${
      names.length === 0
        ? "none named"
        : names
            .slice(0, 50)
            .map((name) => shown(name))
            .join(", ")
    }`,
    `annotations: ${shown(annotations)}`,
  ];
}

function compare(path: string, before: unknown, after: unknown, changes: string[], depth = 0): void {
  if (changes.length > MAX_CHANGES) return;
  if (depth < MAX_DEPTH && isObject(before) && isObject(after) && Array.isArray(before) === Array.isArray(after)) {
    const [was, is] = [new Map(Object.entries(before)), new Map(Object.entries(after))];
    for (const key of new Set([...was.keys(), ...is.keys()]))
      compareProperty(path === "" ? key : `${path}.${key}`, was.get(key), is.get(key), changes, depth + 1);
    return;
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  const [was, is] =
    typeof before === "string" && typeof after === "string" ? aroundDifference(before, after) : [before, after];
  changes.push(`${shownPath(path)}: was ${shown(was)}, is ${shown(is)}`);
}

function compareProperty(path: string, before: unknown, after: unknown, changes: string[], depth: number): void {
  if (before === undefined && after === undefined) return;
  if (before === undefined) changes.push(`${shownPath(path)}: added, ${shown(after)}`);
  else if (after === undefined) changes.push(`${shownPath(path)}: removed, was ${shown(before)}`);
  else compare(path, before, after, changes, depth);
}

/** Long texts that differ in one place are shown from shortly before it. */
function aroundDifference(before: string, after: string): readonly [string, string] {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  const from = Math.max(0, at - 40);
  return from === 0 ? [before, after] : [`…${before.slice(from)}`, `…${after.slice(from)}`];
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

const shownPath = (path: string): string => (path.length > MAX_SHOWN ? `…${path.slice(-MAX_SHOWN)}` : path);

function shown(value: unknown, max = MAX_SHOWN): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
