import type { CheerioAPI } from "cheerio/slim";
import { type AnyNode, ancestorsOf, type Element, elementsBelow, isElement, isText, nodesBelow, type ParentNode } from "./dom.ts";

/** Turns every `pre` into the plain `pre > code` that becomes a fenced block, with its language where the page names it. */
export function markCode($: CheerioAPI, root: ParentNode): void {
  for (const pre of elementsBelow(root, "pre")) {
    const around = [...ancestorsOf(pre)];
    if (around.some(({ name }) => name === "pre")) continue;
    const language = languageOf(pre);
    const code = codeOf(pre);
    const plain = $("<pre><code></code></pre>");
    plain.children().text(code);
    if (language !== "") plain.children().attr("class", `language-${language}`);
    // A highlighter's table of line numbers and code is a wrapper, not a table.
    const wrapper = around.find(({ name, attribs }) => name === "table" && /highlight|code|rouge/i.test(attribs["class"] ?? ""));
    if (code.trim() === "" || (wrapper !== undefined && /^[\d\s]+$/.test(code))) $(pre).remove();
    else $(wrapper ?? pre).replaceWith(plain);
  }
}

/** The text of a code block: a `br` and the end of a block inside are line ends, line numbers are not code. */
function codeOf(pre: Element): string {
  const parts: string[] = [];
  let skipped: Element | undefined;
  let line: Element | undefined;
  for (const node of nodesBelow(pre)) {
    if (skipped !== undefined && isInside(node, skipped)) continue;
    skipped = undefined;
    if (line !== undefined && !isInside(node, line)) {
      if (parts.at(-1)?.endsWith("\n") === false) parts.push("\n");
      line = undefined;
    }
    if (isText(node)) parts.push(node.data);
    else if (!isElement(node)) continue;
    else if (node.name === "br") parts.push("\n");
    else if (lineNumbers.test(node.attribs["class"] ?? "")) skipped = node;
    else if (blocks.has(node.name)) line = node; // some highlighters make a block of each line
  }
  // The converter's time grows with the square of a run of white space.
  return parts
    .join("")
    .replace(/^\n/, "")
    .trimEnd()
    .replaceAll(/[ \t]{200,}/g, " ")
    .replaceAll(/\n{20,}/g, "\n");
}

function isInside(node: AnyNode, element: Element): boolean {
  for (let { parent } = node; parent !== null; parent = parent.parent) if (parent === element) return true;
  return false;
}

const lineNumbers = /(?:^|\s)(?:linenos?|line-?numbers?(?:-rows)?|gutter)(?:\s|$)/;
const blocks: ReadonlySet<string> = new Set(["div", "p", "li", "tr"]);

/** @see https://html.spec.whatwg.org/multipage/text-level-semantics.html#the-code-element for `language-`; the others are highlighters' habits */
function languageOf(pre: Element): string {
  const inside = pre.children.filter(isElement).find(({ name }) => name === "code");
  for (const { attribs } of [...(inside === undefined ? [] : [inside]), pre, ...[...ancestorsOf(pre)].slice(0, 2)]) {
    const found = attribs["data-lang"] ?? attribs["data-language"] ?? classLanguage.exec(attribs["class"] ?? "")?.[1];
    if (found !== undefined && /^[\w+#.-]{1,20}$/.test(found)) return found.toLowerCase();
  }
  return "";
}

const classLanguage = /(?:^|\s)(?:language|lang|highlight-source|highlight-text|brush:)[-:\s]?([\w+#.]+)/;
