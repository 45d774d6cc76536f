import { elementsBelow, type ParentNode } from "./dom.ts";

/**
 * Makes every link absolute. A link that leads nowhere readable becomes its text.
 * @param base what relative links are relative to
 */
export function resolveLinks(root: ParentNode, base: URL): void {
  for (const { attribs } of elementsBelow(root, "a")) {
    const href = attribs["href"]?.trim();
    const target = href === undefined || href.startsWith("#") ? null : URL.parse(href, base.href);
    if (target !== null && readable.has(target.protocol)) {
      // A parenthesis or space in a destination would end it early.
      attribs["href"] = target.href.replaceAll(/[() <>\\]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
    } else {
      delete attribs["href"];
    }
  }
}

const readable: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);

/** What the page's relative links are relative to: its `base` element, itself relative to where the page came from. */
export function baseOf(document: ParentNode, url: string): URL {
  const href = elementsBelow(document, "base").find(({ attribs }) => attribs["href"] !== undefined)?.attribs["href"];
  const base = URL.parse(href ?? "", url);
  return base !== null && readable.has(base.protocol) ? base : new URL(url);
}
