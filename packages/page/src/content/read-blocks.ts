import { ampPictures } from "../tree/amp-pictures.ts";
import { type AnyNode, type Element, isElement, isText, type ParentNode } from "../tree/dom.ts";
import { playedName } from "../tree/table-roles.ts";
import { groupNames, groupsOf } from "./class-groups.ts";
import { readText, type TextFacts } from "./text-facts.ts";

/** An element that holds blocks, and the blocks that it holds: those from `first` up to, without, `end`. */
export interface Zone {
  readonly element: ParentNode;
  readonly name: string;
  readonly parent: Zone | undefined;
  readonly depth: number;
  readonly first: number;
  end: number;
  /** For each group of `groupNames`, how far up its nearest element is: 0 for this one, FAR if there is none. */
  readonly groups: Uint8Array;
  /** Elements that look like this one among its siblings, itself included. */
  alike: Alike | undefined;
  /** Its index among these, 0 where it is the only one. */
  place: number;
}

export interface Alike {
  readonly zones: Zone[];
}

/** A run of text that is kept or cut as a whole: a paragraph, a heading, an item, a row. */
export interface Block {
  readonly index: number;
  readonly zone: Zone;
  /** The nodes of the zone's element that it consists of. */
  readonly nodes: readonly AnyNode[];
  readonly text: TextFacts;
}

/** A run of pictures without text. */
export interface Pictures {
  /** The index of the block that follows. */
  readonly before: number;
  readonly nodes: readonly AnyNode[];
}

/** A page as blocks. */
export interface PageBlocks {
  readonly blocks: readonly Block[];
  readonly pictures: readonly Pictures[];
  readonly zones: readonly Zone[];
}

export const FAR = 40;

const blockNames: ReadonlySet<string> = new Set([
  ...[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "button",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
  ],
  ...[
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "html",
    "legend",
    "li",
    "main",
    "menu",
    "nav",
  ],
  ...["ol", "p", "pre", "search", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"],
]);

/** Elements of a page's own making mostly hold others. */
const isBlockName = (name: string): boolean => blockNames.has(name) || (name.includes("-") && !inlineNames.has(name));
const inlineNames: ReadonlySet<string> = new Set(["tex-math", "task-mark", ...ampPictures]);

/** Parts a page into the runs of text that blocks are. The tree is bounded in depth by then. */
export function readBlocks(root: ParentNode, unseen: ReadonlySet<AnyNode>): PageBlocks {
  const blocks: Block[] = [];
  const pictures: Pictures[] = [];
  const zones: Zone[] = [];
  const known = new Map<string, readonly number[]>();
  const holders = blockHolders(root, unseen);
  const none = new Uint8Array(groupNames.length).fill(FAR);
  walk(root, undefined, false);
  return { blocks, pictures, zones };

  function walk(element: ParentNode, parent: Zone | undefined, isInLink: boolean): void {
    const zone = openZone(element, parent);
    const isLink = isInLink || (isElement(element) && element.name === "a");
    let run: AnyNode[] = [];
    const close = (): void => {
      if (run.length > 0) addBlock(zone, run, isLink);
      run = [];
    };
    if (
      zone.name === "pre" ||
      (zone.name === "tr" && !element.children.some((cell) => isElement(cell) && holders.has(cell)))
    ) {
      addBlock(zone, element.children, isLink);
    } else {
      let breaks = 0;
      for (const child of element.children) {
        if (unseen.has(child)) continue;
        if (isElement(child) && (isBlockName(child.name) || holders.has(child))) {
          close();
          walk(child, zone, isLink);
        } else {
          const isBreak = isElement(child) && child.name === "br";
          if (isBreak && ++breaks === 2) close();
          if (!isBreak && !(isText(child) && child.data.trim() === "")) breaks = 0;
          run.push(child);
        }
      }
      close();
    }
    zone.end = blocks.length;
  }

  function openZone(element: ParentNode, parent: Zone | undefined): Zone {
    const name = isElement(element) ? playedName(element) : "";
    const groups = parent === undefined ? none.slice() : parent.groups.map(farther);
    if (isElement(element)) for (const group of groupsOf(element, known)) groups[group] = 0;
    const [first, depth] = [blocks.length, (parent?.depth ?? 0) + 1];
    const zone: Zone = { element, name, parent, depth, first, end: first, groups, alike: undefined, place: 0 };
    zones.push(zone);
    return zone;
  }

  function addBlock(zone: Zone, nodes: readonly AnyNode[], isInLink: boolean): void {
    const text = readText(nodes, isInLink, unseen);
    if (text.words > 0 || text.text !== "") blocks.push({ index: blocks.length, zone, nodes, text });
    else if (text.images > 0) pictures.push({ before: blocks.length, nodes });
  }
}

const farther = (distance: number): number => Math.min(FAR, distance + 1);

/** The inline elements that hold blocks. */
function blockHolders(root: ParentNode, unseen: ReadonlySet<AnyNode>): ReadonlySet<AnyNode> {
  const holders = new Set<AnyNode>();
  mark(root);
  return holders;

  function mark(parent: ParentNode): boolean {
    let holds = false;
    for (const child of parent.children) {
      if (!isElement(child) || unseen.has(child)) continue;
      const isHolder = mark(child);
      holds ||= isHolder || isBlockName(child.name);
    }
    if (holds) holders.add(parent as Element);
    return holds;
  }
}

/** Finds, for each zone, those of its siblings that look alike. */
export function groupAlike(zones: readonly Zone[]): void {
  const byLook = new Map<Zone, Map<string, Alike>>();
  for (const zone of zones) {
    if (zone.parent === undefined || !isElement(zone.element)) continue;
    const looks = byLook.get(zone.parent) ?? new Map<string, Alike>();
    byLook.set(zone.parent, looks);
    const look = `${zone.name} ${(zone.element.attribs["class"] ?? "").slice(0, 100).replaceAll(/\d+/g, "0")}`;
    const alike = looks.get(look) ?? { zones: [] };
    looks.set(look, alike);
    zone.place = alike.zones.length;
    alike.zones.push(zone);
    zone.alike = alike;
  }
}
