import type { CheerioAPI } from "cheerio/slim";
import { hasNoRoom, type Layout, layoutIn } from "../css/box-room.ts";
import { type DeclaredStyle, withoutValue } from "../css/cascade.ts";
import { backgroundOf, type Colour, isClear, isSame, parseColour } from "../css/colours.ts";
import { coversOn } from "../css/covers.ts";
import { pixels, withPixels, withVariables } from "../css/css-values.ts";
import { declaredStyles } from "../css/declared-style.ts";
import { isRoot } from "../css/element-states.ts";
import { fontSizeIn, MEDIUM_PX } from "../css/font-size.ts";
import type { StyleBudget } from "../css/style-budget.ts";
import { elementBefore } from "../css/trees.ts";
import {
  type AnyNode,
  type Element,
  elementsBelow,
  isElement,
  isParent,
  isText,
  type ParentNode,
  setChildren,
  textOf,
} from "./dom.ts";
import { isShadowRoot, shadowRootOf, slotsIn, slottedIn } from "./shadow-roots.ts";

/** What a text has from the elements around it. */
interface Inherited {
  readonly isVisible: boolean;
  /** Of letters, in pixels: those of the text, and those of the page's root. */
  readonly size: number;
  readonly rootSize: number;
  readonly colour: Colour;
  readonly background: Colour;
  readonly variables: ReadonlyMap<string, string>;
  /** Of the box around it. */
  readonly layout: Layout;
}

const BLACK: Colour = [0, 0, 0, 1];
const WHITE: Colour = [255, 255, 255, 1];
/** Further than that from its place nothing is seen of an element. */
const FAR_PX = 500;
/** Nobody reads smaller letters. */
const TINY_PX = 2;
/** What a page begins with. */
const OUTERMOST: Inherited = {
  isVisible: true,
  size: MEDIUM_PX,
  rootSize: MEDIUM_PX,
  colour: BLACK,
  background: WHITE,
  variables: new Map(),
  layout: "flow",
};
const MAX_VARIABLES = 2_000;
/** So often what a control opens is looked at for further controls: each time costs a look at all of them. */
const MAX_ROUNDS = 8;

/** Which styles count, and for what. */
export interface HiddenOptions {
  /** Whether the page's sheets count, or only attributes. @default true */
  readonly withSheets?: boolean;
  /** Whether a dialog that is not open is hidden. @default true */
  readonly withDialogs?: boolean;
  /**
   * The elements that are looked at, beside what opens boxes: of another, nothing is said. All ancestors of one belong
   * to them, too.
   * @default all
   */
  readonly among?: ReadonlySet<AnyNode> | undefined;
}

/** Removes what `findHidden` finds. */
export function removeHidden($: CheerioAPI, options: HiddenOptions = {}): void {
  const hidden = findHidden($, options);
  for (const parent of new Set([...hidden].flatMap((node) => node.parent ?? []))) {
    setChildren(
      parent,
      parent.children.filter((child) => !hidden.has(child)),
    );
  }
}

/**
 * Finds what a person who looks at the page does not see: what is not displayed, transparent, elsewhere, cut off, tiny,
 * or in the colour of what it stands on. Such text is where a page that wants to mislead a model speaks to it. Elements
 * and texts; what lies in an element that is hidden is not named again.
 */
export function findHidden($: CheerioAPI, options: HiddenOptions = {}): Set<AnyNode> {
  const root = $.root()[0] as ParentNode;
  const all = elementsBelow(root);
  const among = options.among === undefined ? undefined : withSlots(all, withControls(all, options.among));
  const hidden = new Set<AnyNode>();
  const styles = declaredStyles($, all, { ...options, among });
  const drawn = new DrawnTree(hidden);
  const start: Inherited = { ...OUTERMOST, background: styles.isIncomplete ? "unknown" : WHITE };
  const open: [ParentNode, Inherited][] = [[root, start]];
  const isCovered = coversOn(styles);
  const controls: Element[] = [];
  /** Whether these are hidden shows once all controls are known. */
  let closed: Panel[] = [];
  let rounds = MAX_ROUNDS;
  for (let entry = open.pop(); entry !== undefined; entry = open.pop() ?? nextOpened()) {
    const [parent, around] = entry;
    const isSeen = once(() => isRead(parent, around, isCovered));
    for (const child of drawn.childrenOf(parent))
      if (!(isText(child) ? child.data.trim() === "" || isSeen() : isShown(child, around))) hidden.add(child);
  }
  for (const { box } of closed) hidden.add(box);
  drawn.finish();
  return hidden;

  function isShown(child: AnyNode, around: Inherited): boolean {
    if (!isElement(child)) {
      if (isParent(child)) open.push([child, around]);
      return isParent(child);
    }
    if (among !== undefined && !among.has(child)) return true;
    const declared = styles.of(child);
    const variables = variablesOf(declared, around.variables, styles.budget);
    const style = resolved(declared, variables, styles.budget);
    const isUnopened = "popover" in child.attribs || (options.withDialogs !== false && isClosedDialog(child));
    if (isUnopened && !style.has("display")) return false; // a sheet that says how it is displayed shows it
    const inherited = inherit(child, style, around, variables);
    if (isTakenAway(child, style) || hasNoRoom(child, style, around.layout)) {
      const control = controlBefore(child) ?? tabBefore(child, styles.budget);
      const { ids, labels } = namesOf(child);
      if (control === undefined && ids.length === 0 && labels.length === 0) return false;
      closed.push({ box: child, control, ids, labels, inherited: { ...inherited, isVisible: around.isVisible } });
      return true;
    }
    if (isControl(child)) controls.push(child);
    open.push([child, inherited]);
    return true;
  }

  /** A box that a control opens which people see: who clicks it reads the text. */
  function nextOpened(): [ParentNode, Inherited] | undefined {
    if (closed.length === 0 || rounds-- === 0) return undefined;
    const shut = new Set(closed.map(({ box }) => box));
    const seen = new Set(
      controls.filter(
        (it) => !hidden.has(it) && textOf(it).trim() !== "" && !elementsBelow(it).some((inner) => shut.has(inner)),
      ),
    );
    const opened = new Set([...seen].flatMap(({ attribs }) => (attribs["aria-controls"] ?? "").split(/\s+/)));
    const labels = new Set([...seen].flatMap(({ attribs }) => attribs["id"] ?? []));
    const isOpened = (panel: Panel): boolean =>
      panel.ids.some((id) => opened.has(id)) ||
      panel.labels.some((id) => labels.has(id)) ||
      (panel.control !== undefined && seen.has(panel.control));
    for (const panel of closed) if (isOpened(panel)) open.push([panel.box, panel.inherited]);
    closed = closed.filter((panel) => !isOpened(panel));
    return open.pop();
  }
}

/**
 * The tree as it is drawn: in a host its shadow tree, and in a slot of that what the host has for it, or else what the
 * slot holds.
 */
class DrawnTree {
  readonly #hidden: Set<AnyNode>;
  readonly #slotted = new Map<AnyNode, readonly AnyNode[]>();
  /** What is drawn once its slot is. */
  readonly #waiting = new Set<AnyNode>();

  /** @param hidden to which is added what is drawn nowhere */
  constructor(hidden: Set<AnyNode>) {
    this.#hidden = hidden;
  }

  childrenOf(parent: ParentNode): readonly AnyNode[] {
    const slotted = this.#slotted.get(parent);
    if (slotted !== undefined) {
      for (const child of parent.children) this.#hidden.add(child);
      for (const node of slotted) this.#waiting.delete(node);
      return slotted;
    }
    const shadow = isElement(parent) ? shadowRootOf(parent) : undefined;
    if (shadow === undefined) return parent.children;
    for (const [slot, nodes] of slottedIn(parent as Element, shadow)) this.#slotted.set(slot, nodes);
    for (const child of parent.children)
      if (child !== shadow && (isElement(child) || isText(child))) this.#waiting.add(child);
    return [shadow];
  }

  finish(): void {
    for (const node of this.#waiting) this.#hidden.add(node);
  }
}

/** A box that is not shown, until somebody may open it. */
interface Panel {
  readonly box: Element;
  /** What stands before it and opens something. */
  readonly control: Element | undefined;
  /** Its id, and those of the boxes that are all it holds: one of them is what a control names. */
  readonly ids: readonly string[];
  /** What labels a panel of tabs. */
  readonly labels: readonly string[];
  readonly inherited: Inherited;
}

/** What opens a box, as the heading of an accordion does and a tab. */
const isControl = ({ name, attribs }: Element): boolean =>
  "aria-expanded" in attribs ||
  attribs["role"] === "tab" ||
  ("aria-controls" in attribs && (name === "button" || attribs["role"] === "button"));

/** The elements with the slots that they may stand in, and what lies around those. */
function withSlots(all: readonly Element[], among: ReadonlySet<AnyNode>): ReadonlySet<AnyNode> {
  const shadows = all.filter(isShadowRoot);
  if (shadows.length === 0) return among;
  const more = new Set(among);
  for (const shadow of shadows)
    if (shadow.parent !== null && more.has(shadow.parent))
      for (const slot of slotsIn(shadow).values()) addAround(slot, more);
  return more;
}

function addAround(node: AnyNode, among: Set<AnyNode>): void {
  for (let at: AnyNode | null = node; at !== null && !among.has(at); at = at.parent) among.add(at);
}

/** The elements with what opens boxes, and what lies around that: a tab is seldom content, and its panel may be. */
function withControls(all: readonly Element[], among: ReadonlySet<AnyNode>): ReadonlySet<AnyNode> {
  const more = new Set(among);
  for (const control of all) if (isControl(control)) addAround(control, more);
  return more;
}

/** So many boxes in each other may be one panel, drawn with borders and room. */
const MAX_WRAPPERS = 4;

function namesOf(box: Element): { readonly ids: readonly string[]; readonly labels: readonly string[] } {
  const ids: string[] = [];
  const labels: string[] = [];
  let at: Element | undefined = box;
  for (let i = 0; i < MAX_WRAPPERS && at !== undefined; i++) {
    const { id, role, "aria-labelledby": label = "" } = at.attribs;
    if (id !== undefined && id !== "") ids.push(id);
    // Some sites name a tab by what it says, spaces and all.
    if (role === "tabpanel" && label !== "") labels.push(...new Set([label, ...label.split(/\s+/)]));
    const inner: readonly Element[] = at.children.filter(isElement);
    at = inner.length === 1 ? inner[0] : undefined;
  }
  return { ids, labels };
}

/** The control right before a box, as the heading of an accordion's panel is: the element before it, or one in that. */
function controlBefore(box: Element): Element | undefined {
  for (let { prev } = box; prev !== null; { prev } = prev) {
    if (!isElement(prev)) continue;
    const found =
      "aria-expanded" in prev.attribs ? prev : elementsBelow(prev).find(({ attribs }) => "aria-expanded" in attribs);
    return found !== undefined && found.attribs["aria-controls"] === undefined ? found : undefined;
  }
  return undefined;
}

const MAX_TABS = 50;

/**
 * The tab of a panel that names none: the one of its place in the list before the panels, or before what holds them.
 */
function tabBefore(box: Element, budget: StyleBudget): Element | undefined {
  if (box.attribs["role"] !== "tabpanel") return undefined;
  let place = 0;
  let before = elementBefore(box, budget);
  for (; before?.attribs["role"] === "tabpanel" && place < MAX_TABS; before = elementBefore(before, budget)) place++;
  const { parent } = box;
  const list = before ?? (parent !== null && isElement(parent) ? elementBefore(parent, budget) : undefined);
  return list === undefined
    ? undefined
    : [list, ...elementsBelow(list)].filter(({ attribs }) => attribs["role"] === "tab")[place];
}

const isClosedDialog = ({ name, attribs }: Element): boolean => name === "dialog" && !("open" in attribs);

function variablesOf(
  style: DeclaredStyle,
  around: ReadonlyMap<string, string>,
  budget: StyleBudget,
): ReadonlyMap<string, string> {
  if (style.size === 0) return around;
  const own: [string, string][] = [];
  for (const entry of style) if (entry[0].startsWith("--") && around.get(entry[0]) !== entry[1]) own.push(entry);
  if (own.length === 0) return around; // some sheets give the same to all elements
  budget.spend(around.size);
  return new Map([...around, ...own].slice(-MAX_VARIABLES));
}

function resolved(style: DeclaredStyle, variables: ReadonlyMap<string, string>, budget: StyleBudget): DeclaredStyle {
  if (style.size === 0 || ![...style.values()].some((value) => value.includes("var("))) return style;
  return new Map(
    [...style]
      .flatMap(([name, value]) =>
        name.startsWith("--")
          ? []
          : [[name, withVariables(value, variables, budget) ?? withoutValue(name, "unset")] as const],
      )
      .filter((entry): entry is readonly [string, string] => entry[1] !== undefined),
  );
}

/** Whether nothing of the element is seen, whatever its children say of themselves. */
function isTakenAway({ name: element }: Element, style: DeclaredStyle): boolean {
  if (style.size === 0) return false;
  const of = (name: string): string => style.get(name) ?? "";
  const display = style.get("display") ?? (element === "slot" ? "contents" : "");
  if (display === "none") return true;
  if (display === "contents") return false; // it has no box, and what it holds has its own
  if (of("content-visibility") === "hidden") return true;
  // An element that an animation shows later begins like that.
  const isAnimated = style.has("animation-name") && !/^none\b/.test(of("animation-name"));
  const isFaint = (opacity: string): boolean => numberIn(opacity) <= 0.05;
  if (!isAnimated && (isFaint(of("opacity")) || /\bopacity\(\s*0*\.?0+%?\s*\)/.test(of("filter")))) return true;

  const isPlaced = /^(?:absolute|fixed)$/.test(of("position"));
  const isFar = (value: string): boolean => pixels(value) <= -FAR_PX;
  if (isPlaced && ["left", "top", "right", "bottom"].some((side) => isFar(of(side)))) return true;
  // A fixed element does not come into view by scrolling. Nobody scrolls to an element that is that far to the right or
  // below.
  const limit = of("position") === "fixed" ? 1000 : 1500;
  const isRelative = (value: string): boolean => /%|v[whib]|vm/.test(value);
  if (
    isPlaced &&
    ["left", "top", "right", "bottom"].some((side) => pixels(of(side)) >= (isRelative(of(side)) ? limit : 5 * limit))
  )
    return true;
  // Layouts of a fixed width are moved by half of it to the middle, and boxes by a share of their own size.
  if (isFar(of("text-indent")) || ["margin-left", "margin-top"].some((side) => pixels(of(side)) <= -3 * FAR_PX))
    return true;
  if (isGone(of("transform"), of("rotate")) || (of("zoom") !== "" && numberIn(of("zoom")) <= 0.05)) return true;
  const moved = withPixels(`${of("transform")} ${of("translate")}`.replaceAll(/[-+]?[\d.]+%/g, "0px")); // a share of its own size
  if (
    (moved.match(/-[\d.]+px/g) ?? []).some(isFar) ||
    /\bscale[xy]?\(\s*0*\.?0+\s*[,)]/.test(moved) ||
    /^0*\.?0+$/.test(of("scale"))
  )
    return true;

  if (isPlaced && /^rect\(\s*(?:[01](?:px)?[\s,]+){3}[01](?:px)?\s*\)$/.test(of("clip"))) return true;
  if (/^(?:inset\(\s*(?:[5-9]\d|\d{3,})(?:\.\d+)?%|circle\(\s*0(?:px|%)?[\s)])/.test(of("clip-path"))) return true;
  return false;
}

/** Whether a transform leaves no area: seen from the side, or scaled to nothing. */
function isGone(transform: string, rotate: string): boolean {
  const turned = [...transform.matchAll(/\brotate[xy]\(\s*([^()]+)\)/g)]
    .map(([, angle = ""]) => angle)
    .concat(/^[xy]\s/.test(rotate) ? rotate.slice(2) : []);
  if (turned.some((angle) => Math.abs(Math.cos(radians(angle))) <= 0.02)) return true;
  const [, inner] = /\bmatrix\(([^()]+)\)/.exec(transform) ?? [];
  if (inner !== undefined) {
    const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = inner.split(/[\s,]+/).map(Number);
    if (Math.abs(a * d - b * c) <= 0.001 || x <= -2 * FAR_PX || y <= -2 * FAR_PX) return true;
  }
  return [...transform.matchAll(/\bscale(?:[xy]|3d)?\(([^()]+)\)/g)].some(([, scales = ""]) =>
    scales
      .split(",")
      .slice(0, 2)
      .some((scale) => Math.abs(numberIn(scale.trim())) <= 0.02),
  );
}

function radians(angle: string): number {
  const [, number, unit = ""] = /^(-?[\d.]+)(deg|grad|rad|turn)?$/.exec(angle.trim()) ?? [];
  return Number(number) * ({ deg: Math.PI / 180, grad: Math.PI / 200, turn: 2 * Math.PI }[unit] ?? 1);
}

/** A number or a share; NaN if it is neither. */
function numberIn(value: string): number {
  const worked = /^[-+.\d]/.test(value) ? value : withPixels(value).replace("px", "");
  const [, number, percent] = /^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(%?)$/.exec(worked) ?? [];
  return number === undefined ? Number.NaN : Number(number) * (percent === "%" ? 0.01 : 1);
}

/** An answer that is worked out where it is asked for, and then kept. */
function once(ask: () => boolean): () => boolean {
  let known: boolean | undefined;
  return () => (known ??= ask());
}

/** Whether texts can be read where they stand. */
function isRead(
  parent: ParentNode,
  { isVisible, size, colour, background }: Inherited,
  isCovered: ReturnType<typeof coversOn>,
): boolean {
  if (!isVisible || size <= TINY_PX || isClear(colour)) return false;
  return !isSame(colour, background) || (isElement(parent) && isCovered(parent, colour));
}

function inherit(
  element: Element,
  style: DeclaredStyle,
  around: Inherited,
  variables: ReadonlyMap<string, string>,
): Inherited {
  if (style.size === 0 && variables === around.variables && around.layout === "flow") return around;
  const visibility = style.get("visibility");
  const size = style.get("font-size");
  const own =
    size === undefined || size === "inherit"
      ? around.size
      : fontSizeIn(size, { parent: around.size, root: around.rootSize });
  return {
    isVisible: visibility === undefined || visibility === "inherit" ? around.isVisible : visibility === "visible",
    size: own,
    rootSize: isRoot(element) ? own : around.rootSize,
    colour: colourOf(style, around, element),
    background: backgroundOf(style, around.background),
    variables,
    layout: layoutIn(style, around.layout),
  };
}

function colourOf(style: DeclaredStyle, around: Inherited, { name }: Element): Colour {
  if (/(?:^|[\s,])text(?:[\s,]|$)/.test(style.get("background-clip") ?? "")) return "unknown"; // the background is the text's colour
  const fill = style.get("-webkit-text-fill-color");
  const value = fill === undefined || fill === "inherit" || fill === "currentcolor" ? style.get("color") : fill;
  if (value === undefined) return name === "a" ? "unknown" : around.colour; // a link has a colour of its own
  return value === "inherit" || value === "currentcolor" ? around.colour : parseColour(value);
}
