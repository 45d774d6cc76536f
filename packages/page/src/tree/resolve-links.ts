import { PageTooComplexError } from "../page-too-complex-error.ts";
import { type Element, elementsBelow, type ParentNode, setChildren, textOf } from "./dom.ts";

/** A longer base is no address that a server would answer, and each of the page's links would repeat it. */
const MAX_BASE_LENGTH = 2_048;

/**
 * Makes every link absolute, also one to a place on the page itself. A link that leads nowhere readable becomes its
 * text. A sign beside a heading that links to that heading goes.
 * @param base what relative links are relative to
 * @throws {PageTooComplexError} if the links together are longer than `maxLength`
 */
export function resolveLinks(
  root: ParentNode,
  base: URL | undefined,
  { maxLength }: { readonly maxLength: number },
): void {
  let length = 0;
  for (const link of elementsBelow(root, "a")) {
    const { attribs } = link;
    const href = attribs["href"]?.trim();
    if (href?.startsWith("#") === true && isSign(link)) setChildren(link, []);
    const target = href === undefined || leadsNowhere(href) ? null : URL.parse(href, base?.href);
    if (target !== null && readable.has(target.protocol)) {
      // A parenthesis or space in a destination would end it early.
      dropTracking(target);
      attribs["href"] = target.href.replaceAll(
        /[() <>\\]/g,
        (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
      );
      length += attribs["href"].length;
      if (length > maxLength) throw new PageTooComplexError(`more than ${maxLength} characters of links`);
    } else {
      delete attribs["href"];
    }
  }
}

/** Scripts answer a click on such a link. */
const leadsNowhere = (href: string): boolean => /^#(?:!|0|top)?$/.test(href);

/** What sites set beside a heading for those who want its address, or behind a note for the way back. */
const isSign = (link: Element): boolean => /^\s*(?:[¶#§∞⚓↩↑^⏎⇧]|🔗|↩︎)\s*$/u.test(textOf(link));

/** Schemes of pages, and of mail, phone and message: often only such a link tells how to reach the site's owner. */
const readable: ReadonlySet<string> = new Set(["http:", "https:", "mailto:", "tel:", "sms:"]);

/** Parameters that tell a site who follows a link from where, and nothing else. */
const tracking =
  /^(?:utm_\w+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|msclkid|yclid|twclid|ttclid|igshid|li_fat_id|mc_[ce]id|_hs(?:enc|mi)|mkt_tok|vero_id|oly_(?:anon|enc)_id|srsltid|s_cid|ga_source|ga_medium|ga_campaign|__s)$/i;

function dropTracking({ search, searchParams }: URL): void {
  if (search === "") return;
  for (const name of [...searchParams.keys()]) if (tracking.test(name)) searchParams.delete(name);
}

/**
 * What the page's relative links are relative to: its `base` element, itself relative to where the page came from;
 * undefined if neither is known.
 */
export function baseOf(document: ParentNode, url: string | undefined): URL | undefined {
  const href = elementsBelow(document, "base").find(({ attribs }) => attribs["href"] !== undefined)?.attribs["href"];
  const base = URL.parse(href === undefined || href.length > MAX_BASE_LENGTH ? "" : href, url);
  return base?.protocol === "http:" || base?.protocol === "https:" ? base : (URL.parse(url ?? "") ?? undefined);
}
