import type { CheerioAPI } from "cheerio/slim";
import type { Document } from "domhandler";

/**
 * Whether a browser reads a page as those of long ago, in which ids and classes of any case are the same: what matters
 * here of the mode is that.
 */
export const isQuirkyPage = ($: CheerioAPI): boolean => ($.root()[0] as Document | undefined)?.["x-mode"] === "quirks";

/** An id, a class, or a list of these as it is compared. */
export const folded = (name: string, isQuirky: boolean): string => (isQuirky ? name.toLowerCase() : name);
