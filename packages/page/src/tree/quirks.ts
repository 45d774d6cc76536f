import type { CheerioAPI } from "cheerio/slim";
import { type AnyNode, isElement } from "./dom.ts";

/** Whether a browser reads a page as those of long ago, in which ids and classes of any case are the same: what matters here of the mode is that. */
export const isQuirkyPage = ($: CheerioAPI): boolean => $._options.quirksMode === true;

/** An id, a class, or a list of these as it is compared. */
export const folded = (name: string, isQuirky: boolean): string => (isQuirky ? name.toLowerCase() : name);

/**
 * Whether the document begins with no doctype, or with one of long ago.
 * @see https://html.spec.whatwg.org/multipage/parsing.html#the-initial-insertion-mode
 */
export function beginsQuirky(nodes: readonly AnyNode[]): boolean {
  const doctype = nodes.find(
    (node) => isElement(node) || (node.type === "text" && node.data.trim() !== "") || (node.type === "directive" && isDoctype(node.data)),
  );
  return doctype?.type !== "directive" || OLD.test(doctype.data);
}

const isDoctype = (data: string): boolean => /^!doctype\b/i.test(data);
const OLD =
  /^!doctype\s+(?!html\b)|public\s*["'](?:-\/\/W3C\/\/DTD (?:HTML (?:3|4\.0[^1])|W3 HTML)|-\/\/(?:IETF|Netscape|Microsoft|AdvaSoft|AS|SoftQuad|SQ|O'Reilly|Spyglass|Sun|WebTechs|Metrius)|-?\/?W3[CO]?\/|HTML["'])|public\s*["']-\/\/W3C\/\/DTD HTML 4\.01 (?:Transitional|Frameset)\/\/[^"']*["']\s*$/i;
