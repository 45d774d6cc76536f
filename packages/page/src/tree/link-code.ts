import { Element } from "domhandler";
import { type AnyNode, ancestorsOf, elementsBelow, isElement, type ParentNode, setChildren } from "./dom.ts";
import { blockNames } from "./element-names.ts";

const codeNames = ["code", "samp", "tt"] as const;

/**
 * Makes all that is typed or printed in a line of text `code`. Links in it become links around code, for within code
 * markdown has none. Nor has it blocks there: these stay blocks. Code with super- or subscripts becomes `code-text`.
 */
export function linkCode(root: ParentNode): void {
  for (const code of elementsBelow(root, ...codeNames)) {
    if (code.name === "span" || [...ancestorsOf(code)].some(({ name }) => name === "pre")) continue;
    if (elementsBelow(code).some(({ name }) => blockNames.has(name))) {
      code.name = "span";
      continue;
    }
    for (const inner of elementsBelow(code, ...codeNames)) inner.name = "span";
    code.name = holdsLink(code) ? "span" : elementsBelow(code, "sub", "sup").length > 0 ? "code-text" : "code";
    if (code.name === "span") setChildren(code, around(code.children));
  }
}

/** The nodes, each run of them in code, and each link around code. */
function around(nodes: readonly AnyNode[]): AnyNode[] {
  const parts: AnyNode[] = [];
  let run: AnyNode[] = [];
  for (const node of withLinksOnTop(nodes)) {
    if (isElement(node) && isLink(node)) {
      setChildren(node, [codeOf(node.children)]);
      parts.push(...(run.length === 0 ? [] : [codeOf(run)]), node);
      run = [];
    } else run.push(node);
  }
  return run.length === 0 ? parts : [...parts, codeOf(run)];
}

const withLinksOnTop = (nodes: readonly AnyNode[]): AnyNode[] =>
  nodes.flatMap((node) =>
    isElement(node) && !isLink(node) && holdsLink(node) ? withLinksOnTop(node.children) : [node],
  );

function codeOf(nodes: readonly AnyNode[]): Element {
  const code = new Element("code", {}, []);
  setChildren(code, nodes);
  return code;
}

const isLink = (node: AnyNode): boolean => isElement(node) && node.name === "a" && node.attribs["href"] !== undefined;
const holdsLink = (element: Element): boolean => elementsBelow(element, "a").some(isLink);
