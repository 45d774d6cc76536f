import {
  type AnyNode,
  type Element,
  elementsBelow,
  isElement,
  type NamedElements,
  type ParentNode,
  setChildren,
  textOf,
} from "./dom.ts";
import { markTex, texMath } from "./mark-tex.ts";
import { texOfMathml } from "./tex-of-mathml.ts";

/**
 * Writes each formula once, as TeX in a `tex-math` element: pages hold it as MathML, as TeX for machines, and as the
 * boxes that are shown, side by side. Called before scripts are removed, for MathJax keeps its TeX in them. Formulas
 * without TeX are left to `writeFormula`.
 */
export function markMath(document: ParentNode, named: NamedElements): void {
  markTex(document, named("script"));
  const formulas = [...named("math"), ...named("script")].filter(isFormula);
  const written = new Map<AnyNode, Element>();
  const parents = new Set<ParentNode>();
  for (const formula of formulas) {
    const tex = texOf(formula).replaceAll(/\s+/g, " ").trim();
    const holder = holderOf(formula);
    const { parent } = holder;
    if (parent === null || written.has(holder) || tex === "" || tex.length > MAX_TEX) continue;
    written.set(holder, texMath(tex, isBlock(formula, holder)));
    parents.add(parent);
  }
  for (const parent of parents) {
    setChildren(
      parent,
      parent.children.flatMap((child) =>
        isPreview(child) && !written.has(child) ? [] : [written.get(child) ?? child],
      ),
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

/**
 * Writes a formula without TeX as TeX, in the place of all its forms. Called once what is hidden is gone, for what it
 * says is what people see of it.
 */
export function writeFormula(formula: Element): void {
  const tex = texOfMathml(formula);
  const holder = holderOf(formula);
  if (tex !== "" && tex.length <= MAX_TEX) setChildren(holder, [texMath(tex, isBlock(formula, holder))]);
}

const isBlock = ({ attribs }: Element, holder: Element): boolean =>
  attribs["display"] === "block" ||
  /mode=display/.test(attribs["type"] ?? "") ||
  /display/.test(holder.attribs["class"] ?? "");

/** The outermost element around a formula that holds nothing but its forms. */
function holderOf(formula: Element): Element {
  let holder = formula;
  for (
    let { parent } = formula;
    parent !== null && isElement(parent) && forms.test(parent.attribs["class"] ?? "") && parent.name !== "p";
    { parent } = parent
  )
    holder = parent;
  return holder;
}

const forms = /(?:^|\s)(?:katex|katex-mathml|katex-display|mwe-math|MathJax|MJX|math-(?:inline|display)|mjx-)/i;
const isPreview = (node: AnyNode): boolean =>
  isElement(node) &&
  /(?:^|\s)(?:MathJax_Preview|MathJax(?:_SVG|_Display|_CHTML)?|MJX_Assistive_MathML)(?:\s|$)/.test(
    node.attribs["class"] ?? "",
  );
