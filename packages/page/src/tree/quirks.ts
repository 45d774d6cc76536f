import type { CheerioAPI } from "cheerio/slim";
import type { Document } from "domhandler";

/** Tells whether a browser reads a page in quirks mode, where the case of ids and classes does not matter. */
export const isQuirkyPage = ($: CheerioAPI): boolean => ($.root()[0] as Document | undefined)?.["x-mode"] === "quirks";

/** An id, a class, or a list of these as it is compared. */
export const folded = (name: string, isQuirky: boolean): string => (isQuirky ? name.toLowerCase() : name);
