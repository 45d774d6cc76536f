import { Element, Text } from "domhandler";
import { type AnyNode, isElement, isText, type ParentNode, setChildren, textOf } from "./dom.ts";

/**
 * What scripts of the page make formulas of, whatever element it stands in. A start without an end ends at the next
 * start, so that the time grows with the text.
 */
const TEX = /\\\(((?:[^\\]|\\[^()[\]])+)\\\)|\\\[((?:[^\\]|\\[^()[\]])+)\\\]|\$\$([^$]+)\$\$/g;
/** An element of which the page says that it is a formula. */
const formula = /(?:^|\s)(?:arithmatex|math|math-container|math-inline|math-display)(?:\s|$)/;
const textNames: ReadonlySet<string> = new Set([
  "code",
  "noscript",
  "pre",
  "script",
  "style",
  "tex-math",
  "textarea",
  "title",
]);

/** Makes `tex-math` elements of the TeX that stands in the text of a page for MathJax or KaTeX to find. */
export function markTex(document: ParentNode, scripts: readonly Element[]): void {
  const hasScript = scripts.some((script) => /mathjax|katex/i.test(script.attribs["src"] ?? textOf(script)));
  mark(document);

  function mark(parent: ParentNode): void {
    const isFormula =
      isElement(parent) && parent.attribs["class"] !== undefined && formula.test(parent.attribs["class"]);
    if ((hasScript || isFormula) && parent.children.some((child) => isText(child) && /\\[([]|\$/.test(child.data))) {
      setChildren(
        parent,
        parent.children.flatMap((child) => (isText(child) ? partsOf(child, isFormula) : [child])),
      );
    }
    for (const child of parent.children) if (isElement(child) && !textNames.has(child.name)) mark(child);
  }
}

function partsOf(text: Text, isFormula: boolean): AnyNode[] {
  const { data } = text;
  const [, whole] = (isFormula ? /^\s*\$([^$]+)\$\s*$/ : /$^/).exec(data) ?? [];
  if (whole !== undefined) return [texMath(whole, false)];
  const parts: AnyNode[] = [];
  let end = 0;
  for (const { 0: found, 1: inline, 2: block, 3: display, index } of data.matchAll(TEX)) {
    if (index > end) parts.push(new Text(data.slice(end, index)));
    parts.push(texMath(inline ?? block ?? display ?? "", inline === undefined));
    end = index + found.length;
  }
  if (end < data.length) parts.push(new Text(data.slice(end)));
  return parts;
}

/** The element of a formula. */
export function texMath(tex: string, isBlock: boolean): Element {
  const math = new Element("tex-math", isBlock ? { "data-block": "" } : {}, []);
  setChildren(math, [new Text(tex.replaceAll(/\s+/g, " ").trim())]);
  return math;
}
