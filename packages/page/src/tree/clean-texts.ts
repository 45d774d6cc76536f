import { visibleText } from "@rockbot/contracts";
import { elementsBelow, isText, nodesBelow, type ParentNode } from "./dom.ts";

/**
 * Controls of which there are none in pages: an encoder's mistake for the signs that Windows has in their places, as
 * references to them mean.
 */
const MISTAKEN = /[\u0080-\u009f]/g;
const meant = new TextDecoder("windows-1252");

/** A page's text as it was meant, and as people see it. */
export function cleanText(text: string): string {
  return visibleText(
    text.search(MISTAKEN) < 0
      ? text
      : text.replaceAll(MISTAKEN, (sign) => meant.decode(Uint8Array.of(sign.charCodeAt(0)))),
  );
}

/**
 * Leaves of texts and of alternative texts what people see. Signs that went only once all is written would have parted
 * marks of markdown until then.
 */
export function cleanTexts(root: ParentNode): void {
  for (const node of nodesBelow(root)) if (isText(node)) node.data = cleanText(node.data);
  for (const { attribs } of elementsBelow(root, "img"))
    if (attribs["alt"] !== undefined) attribs["alt"] = cleanText(attribs["alt"]);
}
