import { Element, Text } from "domhandler";
import { type AnyNode, elementsBelow, isElement, type ParentNode, setChildren, textOf } from "./dom.ts";
import { markTex } from "./mark-tex.ts";

/**
 * Writes each formula once, as TeX in a `tex-math` element: pages hold it as MathML, as TeX for machines, and as the boxes that are shown, side by side.
 * Called before scripts are removed, for MathJax keeps its TeX in them.
 */
export function markMath(document: ParentNode): void {
  markTex(document);
  const formulas = elementsBelow(document, "math", "script").filter(isFormula);
  const written = new Map<AnyNode, Element>();
  const parents = new Set<ParentNode>();
  for (const formula of formulas) {
    const tex = texOf(formula).replaceAll(/\s+/g, " ").trim();
    if (tex === "") writeForms(formula);
    const holder = holderOf(formula);
    const { parent } = holder;
    if (parent === null || written.has(holder) || tex === "" || tex.length > MAX_TEX) continue;
    const isBlock =
      formula.attribs["display"] === "block" || /mode=display/.test(formula.attribs["type"] ?? "") || /display/.test(holder.attribs["class"] ?? "");
    const mark = new Element("tex-math", isBlock ? { "data-block": "" } : {}, [new Text(tex)]);
    written.set(holder, mark);
    parents.add(parent);
  }
  for (const parent of parents) {
    setChildren(
      parent,
      parent.children.flatMap((child) => (isPreview(child) && !written.has(child) ? [] : [written.get(child) ?? child])),
    );
  }
}

const MAX_TEX = 5_000;

const isFormula = ({ name, attribs }: Element): boolean => name === "math" || /^math\/tex/i.test(attribs["type"] ?? "");

function texOf(formula: Element): string {
  if (formula.name === "script") return textOf(formula);
  const notes = elementsBelow(formula, "annotation");
  const tex = notes.find(({ attribs }) => /tex/i.test(attribs["encoding"] ?? ""));
  if (tex !== undefined) return textOf(tex).replace(/^\s*\{\\(?:display|text)style ([\s\S]*)\}\s*$/, "$1");
  return formula.attribs["alttext"] ?? "";
}

/** What is seen of a formula without TeX, in a line of text: raised and lowered parts, and a stroke for a fraction's. */
function writeForms(formula: Element): void {
  for (const element of elementsBelow(formula, "msup", "msub", "msubsup", "mfrac")) {
    const [, second, third] = element.children.filter(isElement);
    if (second === undefined) continue;
    if (element.name === "mfrac") {
      for (const part of element.children.filter(isElement)) if (part.name === "mrow") setChildren(part, [new Text("("), ...part.children, new Text(")")]);
      setChildren(
        element,
        element.children.flatMap((child) => (child === second ? [new Text("/"), child] : [child])),
      );
    } else second.name = element.name === "msup" ? "sup" : "sub";
    if (third !== undefined) third.name = "sup";
  }
}

/** The outermost element around a formula that holds nothing but its forms. */
function holderOf(formula: Element): Element {
  let holder = formula;
  for (let { parent } = formula; parent !== null && isElement(parent) && forms.test(parent.attribs["class"] ?? "") && parent.name !== "p"; { parent } = parent)
    holder = parent;
  return holder;
}

const forms = /(?:^|\s)(?:katex|katex-mathml|katex-display|mwe-math|MathJax|MJX|math-(?:inline|display)|mjx-)/i;
const isPreview = (node: AnyNode): boolean =>
  isElement(node) && /(?:^|\s)(?:MathJax_Preview|MathJax(?:_SVG|_Display|_CHTML)?|MJX_Assistive_MathML)(?:\s|$)/.test(node.attribs["class"] ?? "");
