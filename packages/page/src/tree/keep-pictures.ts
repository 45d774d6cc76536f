import { Element, Text } from "domhandler";
import { elementsBelow, isElement, type ParentNode, setChildren, textOf } from "./dom.ts";

/** A shorter alternative text names nothing. */
const LEAST = 3;

/**
 * Leaves the pictures that have an alternative text, each with the address that a browser would load in the end. In a
 * link without text, the alternative text stands for the picture, unless another link to that address has a text; in
 * one with text, the picture goes. Call it after `resolveLinks`.
 */
export function keepPictures(root: ParentNode, base: URL | undefined): void {
  const links = elementsBelow(root, "a");
  const named = new Set(links.flatMap((link) => (textOf(link).trim() === "" ? [] : [link.attribs["href"]])));
  for (const link of links) {
    const pictures = elementsBelow(link, "img");
    if (pictures.length === 0) continue;
    const { href } = link.attribs;
    const alt = pictures.find(({ attribs }) => attribs["alt"])?.attribs["alt"] ?? "";
    if (alt !== "" && textOf(link).trim() === "" && (href === undefined || !named.has(href))) {
      const text = new Element("span", {}, []);
      setChildren(text, [new Text(alt)]);
      setChildren(link, [...link.children, text]);
      named.add(href);
    }
    for (const picture of pictures) picture.attribs = {};
  }
  for (const parent of [root, ...elementsBelow(root)]) {
    if (
      !parent.children.some(
        (child) => isElement(child) && (child.name === "img" || child.name === "source" || child.name === "picture"),
      )
    )
      continue;
    for (const child of parent.children) if (isElement(child) && child.name === "picture") child.name = "span";
    setChildren(
      parent,
      parent.children.filter(
        (child) => !isElement(child) || (child.name !== "source" && (child.name !== "img" || isWorth(child, base))),
      ),
    );
  }
}

/** Tells whether a picture is kept. Its address is made absolute. */
function isWorth(picture: Element, base: URL | undefined): boolean {
  const { attribs } = picture;
  const alt = (attribs["alt"] ?? "").replaceAll(/\s+/g, " ").trim();
  if (alt.length < LEAST) return false;
  const lazy = attribs["data-src"] ?? attribs["data-lazy-src"] ?? attribs["data-original"] ?? attribs["data-lazy"];
  const set = attribs["data-srcset"] ?? attribs["data-lazy-srcset"] ?? attribs["srcset"];
  for (const source of [lazy, attribs["src"], set?.trim().split(/\s+/, 1)[0]]) {
    const address = source === undefined || source.trim() === "" ? null : URL.parse(source, base?.href);
    if (address === null || !/^https?:$/.test(address.protocol)) continue;
    picture.attribs = {
      alt,
      src: address.href.replaceAll(/[() <>\\]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`),
    };
    return true;
  }
  return false;
}
