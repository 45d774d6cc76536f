import { classNamesIn, type Element } from "../tree/dom.ts";
import { folded } from "../tree/quirks.ts";

/** Finds the elements that a selector can be about by its key: `#id`, `.class`, `[attribute` or a name. */
export function candidatesIn(
  elements: readonly Element[],
  isQuirky: boolean,
): (key: string | undefined) => readonly Element[] {
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
    for (const word of new Set(classNamesIn(folded(attribs["class"] ?? "", isQuirky))))
      if (word !== "") add(`.${word}`, element);
  }
  return (key) => (key === undefined ? elements : (byKey.get(key) ?? []));
}
