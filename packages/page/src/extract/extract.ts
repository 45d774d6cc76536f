import { visibleText } from "@rockbot/contracts";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { htmlToText } from "../text/html-to-text.ts";
import { plainText } from "../text/plain-text.ts";
import { boundTree } from "../tree/bound-tree.ts";
import { parsePage } from "../tree/parse-page.ts";

/** Which part of a page, as CSS selectors. It is data, so that it can be sent to the process that has the page. */
export interface ExtractRule {
  /** Each element that this finds is a record. */
  readonly each: string;
  readonly fields: Readonly<Record<string, FieldRule>>;
}

/** One field of a record: the first element that the selector finds within it, and what is taken of that. */
export interface FieldRule {
  /** The record's element itself when left out. */
  readonly selector?: string;
  /**
   * `line` is its text on one line, `text` its text with line ends, else the attribute of this name.
   * @default "line"
   */
  readonly take?: "line" | "text" | { readonly attribute: string };
}

/** A page as records. A field that was not found is left out. */
export type ExtractedRecord = Readonly<Record<string, string>>;

const MAX_RECORDS = 1_000;
const MAX_LINE = 1_000;
/** Cells are cells only within a table. */
const tables = "table, thead, tbody, tfoot, tr";

/**
 * What `rule` finds of a page. The cost grows with the number of records, of which there are 1 000 at most.
 * @throws {PageTooComplexError} if the page has too many nodes, or more than `maxLength` characters were found
 */
export function extract(
  html: string,
  rule: ExtractRule,
  { url, maxLength }: { readonly url?: string | undefined; readonly maxLength: number },
): ExtractedRecord[] {
  const $ = parsePage(html);
  boundTree($);
  let length = 0;
  return $(rule.each)
    .slice(0, MAX_RECORDS)
    .toArray()
    .map((element) => {
      const record: Record<string, string> = {};
      for (const [name, { selector, take = "line" }] of Object.entries(rule.fields)) {
        const found = selector === undefined ? $(element) : $(element).find(selector).first();
        if (found.length === 0) continue;
        const text =
          typeof take === "object"
            ? visibleText(found.attr(take.attribute) ?? "").trim()
            : take === "text"
              ? htmlToText(found.is(tables) ? `<table>${$.html(found)}</table>` : (found.html() ?? ""), { url })
              : plainText(found.html() ?? "", MAX_LINE);
        length += text.length;
        if (length > maxLength)
          throw new PageTooComplexError(`more than ${maxLength} characters in what was looked for`);
        if (text !== "") record[name] = text;
      }
      return record;
    });
}
