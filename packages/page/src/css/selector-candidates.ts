import { ident, type Selector } from "css-tree/dist/csstree.esm";
import { classNamesIn, type Element } from "../tree/dom.ts";
import { folded } from "../tree/quirks.ts";

/** Elements that a selector can be about, by the id, class, name or attribute in its last part; none of one that is about states or parts of elements. */
export function candidatesIn(elements: readonly Element[], isQuirky: boolean): (selector: Selector) => readonly Element[] {
  const byKey = new Map<string, Element[]>();
  const add = (key: string, element: Element): void => {
    const known = byKey.get(key);
    if (known === undefined) byKey.set(key, [element]);
    else known.push(element);
  };
  for (const element of elements) {
    const { name, attribs } = element;
    add(name, element);
    for (const attribute of Object.keys(attribs)) add(`[${attribute}`, element);
    if (attribs["id"] !== undefined) add(`#${folded(attribs["id"], isQuirky)}`, element);
    for (const word of new Set(classNamesIn(folded(attribs["class"] ?? "", isQuirky)))) if (word !== "") add(`.${word}`, element);
  }
  return ({ children }) => {
    let key: string | undefined;
    for (const node of children) {
      if (node.type === "Combinator") key = undefined;
      else if (node.type === "AttributeSelector") key ??= `[${ident.decode(node.name.name).toLowerCase()}`;
      else if (node.type === "PseudoClassSelector" && node.name.toLowerCase() === "root") key ??= "html";
      else if (node.type === "PseudoElementSelector" || (node.type === "PseudoClassSelector" && !lastingStates.has(node.name.toLowerCase()))) return [];
      else if (node.type === "IdSelector") key = `#${folded(ident.decode(node.name), isQuirky)}`;
      else if (node.type === "ClassSelector" && !key?.startsWith("#")) key = `.${folded(ident.decode(node.name), isQuirky)}`;
      else if (node.type === "TypeSelector" && node.name !== "*") key = key === undefined || key.startsWith("[") ? ident.decode(node.name).toLowerCase() : key;
    }
    return key === undefined ? elements : (byKey.get(key) ?? []);
  };
}

/** The pseudo-classes of what does not change while a page is looked at. */
export const lastingStates: ReadonlySet<string> = new Set([
  ...[
    "not",
    "is",
    "where",
    "has",
    "link",
    "any-link",
    "checked",
    "disabled",
    "enabled",
    "first-child",
    "last-child",
    "only-child",
    "nth-child",
    "nth-last-child",
    "empty",
    "root",
  ],
  ...["first-of-type", "last-of-type", "only-of-type", "nth-of-type", "nth-last-of-type"],
]);
