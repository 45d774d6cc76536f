import { load } from "cheerio/slim";
import { type Element, elementsBelow, isElement, textOf } from "../tree/dom.ts";

/**
 * A formula of Word as presentation MathML. The one library for it wants a DOM, and has been left since 2018.
 * @see ECMA-376 part 1, 22.1, "Math"
 */
export function mathmlOfOmml(omml: string): string {
  const root = load(omml, { xml: true }).root()[0];
  return root === undefined ? "" : `<math>${rowOf(elementsBelow(root)[0])}</math>`;
}

const nameOf = ({ name }: Element): string => name.replace(/^.*:/, "");
const childrenOf = (element: Element | undefined): Element[] => element?.children.filter(isElement) ?? [];
const child = (element: Element, name: string): Element | undefined =>
  childrenOf(element).find((part) => nameOf(part) === name);
const rowOf = (element: Element | undefined): string => `<mrow>${childrenOf(element).map(mathOf).join("")}</mrow>`;

/** A value of an element's properties. */
const property = (element: Element, name: string): string | undefined =>
  childrenOf(element)
    .filter((part) => nameOf(part) === `${nameOf(element)}Pr`)
    .flatMap((properties) => child(properties, name)?.attribs["m:val"] ?? [])[0];

/** Elements of MathML, with the parts that stand in them. */
const shapes: Readonly<Record<string, readonly [string, ...string[]]>> = {
  f: ["mfrac", "num", "den"],
  sSup: ["msup", "e", "sup"],
  sSub: ["msub", "e", "sub"],
  sSubSup: ["msubsup", "e", "sub", "sup"],
  limLow: ["munder", "e", "lim"],
  limUpp: ["mover", "e", "lim"],
};

function mathOf(element: Element): string {
  const name = nameOf(element);
  const [shape, ...parts] = shapes[name] ?? [];
  const part = (of: string): string => rowOf(child(element, of));
  const all = (): string[] => childrenOf(element).flatMap((found) => (nameOf(found) === "e" ? [rowOf(found)] : []));
  if (shape !== undefined) return `<${shape}>${parts.map(part).join("")}</${shape}>`;
  if (name === "t")
    return [...textOf(element).matchAll(/\p{N}+(?:[.,]\p{N}+)*|\p{L}+|\S/gu)].map(([text]) => token(text)).join("");
  if (name === "rad") {
    const isSquare = childrenOf(child(element, "deg")).every((found) => nameOf(found) === "ctrlPr");
    return isSquare ? `<msqrt>${part("e")}</msqrt>` : `<mroot>${part("e")}${part("deg")}</mroot>`;
  }
  if (name === "nary")
    return `<munderover>${token(property(element, "chr") ?? "∫")}${part("sub")}${part("sup")}</munderover>${part("e")}`;
  if (name === "d")
    return (
      token(property(element, "begChr") ?? "(") +
      all().join(token(property(element, "sepChr") ?? "|")) +
      token(property(element, "endChr") ?? ")")
    );
  if (name === "acc") return `<mover>${part("e")}${token(property(element, "chr") ?? "^")}</mover>`;
  if (name === "bar") return `<mover>${part("e")}${token("¯")}</mover>`;
  if (name === "m") return `<mtable>${childrenOf(element).map(mathOf).join("")}</mtable>`;
  if (name === "mr") return `<mtr>${all().join("")}</mtr>`;
  if (name === "eqArr")
    return `<mtable>${all()
      .map((line) => `<mtr>${line}</mtr>`)
      .join("")}</mtable>`;
  return /Pr$/.test(name) ? "" : rowOf(element);
}

function token(text: string): string {
  const name = /^\p{N}/u.test(text) ? "mn" : /^\p{L}/u.test(text) ? "mi" : "mo";
  return text === "" ? "" : `<${name}>${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</${name}>`;
}
