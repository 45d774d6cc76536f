import { Element } from "domhandler";
import { setChildren } from "./dom.ts";

/** The elements that AMP pages have for pictures. @see https://amp.dev/documentation/components/amp-img */
export const ampPictures: ReadonlySet<string> = new Set(["amp-img", "amp-anim"]);

/**
 * Puts into such an element the `img` that AMP's script would. The element keeps its name, for sheets may speak of it,
 * and what it holds, for it may never be closed. What only stands in a picture's place, until that is loaded or where
 * it cannot be, is none.
 */
export function drawPicture(element: Element): void {
  const { attribs } = element;
  if ("placeholder" in attribs || "fallback" in attribs) return;
  const { alt = "", src = "", srcset = "" } = attribs;
  setChildren(element, [new Element("img", { alt, src, srcset }, []), ...element.children]);
}
