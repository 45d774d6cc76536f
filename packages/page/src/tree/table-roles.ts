import type { Element } from "./dom.ts";

/** What an element of a role is in a table. @see https://w3c.github.io/aria/#table */
export const nameByRole: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ table: "table", grid: "table", treegrid: "table", caption: "caption", rowgroup: "tbody", row: "tr" },
    ...{ cell: "td", gridcell: "td", columnheader: "th", rowheader: "th" },
  }),
);

/** Elements that are parts of tables, whatever role they have. */
export const nativeParts: ReadonlySet<string> = new Set([
  "table",
  "caption",
  "thead",
  "tbody",
  "tfoot",
  "tr",
  "td",
  "th",
]);

/** The name of an element, or of the part of a table that it plays. */
export function playedName({ name, attribs }: Element): string {
  const { role } = attribs;
  return role === undefined || nativeParts.has(name) ? name : (nameByRole.get(role) ?? name);
}
