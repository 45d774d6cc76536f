import { type AnyNode, type Element, isElement, type ParentNode, setChildren } from "./dom.ts";

const roots = new WeakSet<Element>();

/** Tells whether a node is the root of a shadow tree, whose host is its parent. To selectors it is no element. */
export const isShadowRoot = (node: Element): boolean => node.attribs["shadowrootmode"] !== undefined && roots.has(node);

/**
 * What may have a shadow root, beside elements of the page's own making.
 * @see https://dom.spec.whatwg.org/#valid-shadow-host-name
 */
const hosts: ReadonlySet<string> = new Set([
  ...[
    "article",
    "aside",
    "blockquote",
    "body",
    "div",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "main",
    "nav",
    "p",
    "section",
    "span",
  ],
]);

/**
 * What a browser shows in the place of an element's children, which it shows in slots only, and takes for a template
 * only where it is an old one.
 */
export function openShadowRoots(templates: readonly Element[]): void {
  const opened = new Set<ParentNode>(); // the first of an element is its root
  for (const template of templates) {
    const { parent } = template;
    if (!/^(?:open|closed)$/i.test(template.attribs["shadowrootmode"] ?? "") || parent === null || opened.has(parent))
      continue;
    if (!isElement(parent) || !(hosts.has(parent.name) || parent.name.includes("-"))) continue;
    opened.add(parent);
    roots.add(template);
    template.name = "div";
    const slots = slotsIn(template);
    setChildren(
      parent,
      parent.children.filter((child) => child === template || slots.has(slotNameOf(child))),
    );
  }
}

/** The slots of a shadow tree by their names, each the first of its name. */
function slotsIn(root: Element): ReadonlyMap<string, Element> {
  const slots = new Map<string, Element>();
  const open: Element[] = [root];
  for (let element = open.pop(); element !== undefined; element = open.pop()) {
    const name = element.attribs["name"] ?? "";
    if (element.name === "slot" && !slots.has(name)) slots.set(name, element);
    for (const child of element.children.toReversed())
      if (isElement(child) && child.name !== "template" && !isShadowRoot(child)) open.push(child);
  }
  return slots;
}

const slotNameOf = (child: AnyNode): string => (isElement(child) ? (child.attribs["slot"] ?? "") : "");
