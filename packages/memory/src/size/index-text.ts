import { partName } from "../chunks/outline-of.ts";

/** A result that lies in working memory in parts. */
export interface StoredResult {
  readonly toolName: string;
  /** Characters of the whole. */
  readonly length: number;
  readonly chunks: readonly { readonly heading: string }[];
  keyOf(index: number): string;
  readonly indexKey: string;
}

/**
 * What the model gets instead of a result that is too large: where its parts are. At most `maxLength` characters, but
 * at least one row.
 */
export function indexText({ toolName, length, chunks, keyOf, indexKey }: StoredResult, maxLength: number): string {
  const head = [
    `Tool result for '${toolName}' is large (${grouped(length)} chars) and has been split into ${chunks.length} chunk(s)`,
    "stored in working memory.",
    `A document outline is stored at key \`${indexKey}\` — retrieve`,
    "it with get_from_working_memory to navigate the content by section heading.",
    "Call get_from_working_memory(key) for each relevant chunk BEFORE drawing conclusions.",
    "",
    "| # | Heading | Key |",
    "|---|---------|-----|",
  ];
  const last = chunks.length - 1;
  const notice = (omitted: number): string =>
    `… and ${omitted} more, up to \`${keyOf(last)}\`: the outline has them all.`;
  let left = maxLength - head.join("\n").length - notice(last).length - 1;
  const rows: string[] = [];
  for (const [index, { heading }] of chunks.entries()) {
    const row = `| ${index} | ${inCell(partName(heading, index)).padEnd(7)} | \`${keyOf(index)}\` |`;
    left -= row.length + 1;
    if (left < 0 && rows.length > 0) break;
    rows.push(row);
  }
  const omitted = chunks.length - rows.length;
  return [...head, ...rows, ...(omitted > 0 ? [notice(omitted)] : [])].join("\n");
}

/** 462000 as `462 000`. */
const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, " ");

const inCell = (text: string): string => text.replace(/[\\|]/g, "\\$&");
