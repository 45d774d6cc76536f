import { type ChildNode, Element } from "domhandler";
import type { TreeAdapter } from "parse5";
import { adapter, type Htmlparser2TreeAdapterMap } from "parse5-htmlparser2-tree-adapter";
import { PageTooComplexError } from "../page-too-complex-error.ts";
import { isText, type ParentNode, setChildren } from "./dom.ts";

export type PageNodes = Htmlparser2TreeAdapterMap;

/** What makes and moves the nodes of a page's tree. */
export interface PageAdapter extends TreeAdapter<PageNodes> {
  /** Moves all children at once: one by one, each would cost as much as all that stand behind it. */
  moveChildren(from: ParentNode, to: ParentNode): void;
}

/**
 * Makes the nodes of a page's tree. What a template holds are its children.
 * @throws {PageTooComplexError} as soon as more than `maxNodes` were put into the tree, or moved in it
 */
export function pageNodes(maxNodes: number): PageAdapter {
  let left = maxNodes;
  const count = (nodes = 1): void => {
    left -= nodes;
    if (left < 0) throw new PageTooComplexError(`more than ${maxNodes} nodes`);
  };
  return {
    ...adapter,
    createElement(name, namespace, attributes) {
      const attribs: Record<string, string> = {};
      for (const { name: key, value } of attributes) if (!Object.hasOwn(attribs, key)) attribs[key] = value;
      const element = new Element(name.toLowerCase(), attribs, []);
      element.namespace = namespace;
      return element;
    },
    getAttrList: ({ attribs }) => Object.entries(attribs).map(([name, value]) => ({ name, value })),
    adoptAttributes(element, attributes) {
      for (const { name, value } of attributes)
        if (!Object.hasOwn(element.attribs, name)) element.attribs[name] = value;
    },
    setTemplateContent() {},
    getTemplateContent: (template) => template as unknown as PageNodes["documentFragment"],
    appendChild(parent, node) {
      count();
      adapter.appendChild(parent, node);
    },
    insertText(parent, text) {
      const last = parent.children.at(-1);
      if (last !== undefined && isText(last)) last.data += text;
      else this.appendChild(parent, adapter.createTextNode(text));
    },
    insertBefore(parent, node, next) {
      count();
      insertBefore(parent, node, next);
    },
    insertTextBefore(parent, text, next) {
      const { prev } = next;
      if (prev !== null && isText(prev)) prev.data += text;
      else this.insertBefore(parent, adapter.createTextNode(text), next);
    },
    detachNode,
    moveChildren(from, to) {
      count(from.children.length);
      setChildren(to, [...to.children, ...from.children]);
      setChildren(from, []);
    },
  };
}

/** Most often before the last. */
function insertBefore(parent: ParentNode, node: ChildNode, next: ChildNode): void {
  parent.children.splice(parent.children.lastIndexOf(next), 0, node);
  const { prev } = next;
  Object.assign(node, { parent, prev, next });
  next.prev = node;
  if (prev !== null) prev.next = node;
}

/** Most often the first or the last. */
function detachNode(node: ChildNode): void {
  const { parent, prev, next } = node;
  if (parent === null) return;
  if (prev === null) parent.children.shift();
  else if (next === null) parent.children.pop();
  else parent.children.splice(parent.children.indexOf(node), 1);
  if (prev !== null) prev.next = next;
  if (next !== null) next.prev = prev;
  Object.assign(node, { parent: null, prev: null, next: null });
}
