import type { CheerioAPI } from "cheerio/slim";
import { hasNoRoom, type Layout, layoutIn } from "../css/box-room.ts";
import { backgroundOf, type Colour, isClear, isSame, parseColour } from "../css/colours.ts";
import { coversOn } from "../css/covers.ts";
import { fontSizeIn, MEDIUM_PX, pixels, withPixels, withVariables } from "../css/css-values.ts";
import { type DeclaredStyle, type DeclaredStyles, declaredStyles, withoutKeyword } from "../css/declared-style.ts";
import type { StyleBudget } from "../css/style-budget.ts";
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
} from "../tree/dom.ts";

/** What a text has from the elements around it. */
interface Inherited {
  readonly isVisible: boolean;
  /** The size of letters in pixels: those of the text, and those of the page's root. */
  readonly size: number;
  readonly rootSize: number;
  readonly colour: Colour;
  readonly background: Colour;
  readonly variables: ReadonlyMap<string, string>;
  /** The layout of the box around it. */
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
  /** True if the page's sheets count, and not only attributes. @default true */
  readonly withSheets?: boolean;
  /** True if a dialog that is not open is hidden. @default true */
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
 * and texts; what lies in an element that is hidden is seldom named again. Rules that may not apply only hide.
 */
export function findHidden($: CheerioAPI, options: HiddenOptions = {}): Set<AnyNode> {
  const root = $.root()[0] as ParentNode;
  const all = elementsBelow(root);
  const among = options.among === undefined ? undefined : withControls(all, options.among);
  const readings = declaredStyles($, all, { ...options, among });
  return new Set(readings.flatMap((styles) => [...hiddenBy(styles, root, all, { ...options, among })]));
}

function hiddenBy(
  styles: DeclaredStyles,
  root: ParentNode,
  all: readonly Element[],
  { among, withDialogs = true }: HiddenOptions,
): ReadonlySet<AnyNode> {
  const hidden = new Set<AnyNode>();
  const start: Inherited = { ...OUTERMOST, background: styles.isIncomplete ? "unknown" : WHITE };
  const open: [ParentNode, Inherited][] = [[root, start]];
  const isCovered = coversOn(styles, all);
  const controls: Element[] = [];
  /** Once all controls are known, it shows which of these are hidden. */
  let closed: Panel[] = [];
  let rounds = MAX_ROUNDS;
  for (let entry = open.pop(); entry !== undefined; entry = open.pop() ?? nextOpened()) {
    const [parent, around] = entry;
    const isSeen = once(() => isRead(parent, around, isCovered));
    for (const child of parent.children)
      if (!(isText(child) ? child.data.trim() === "" || isSeen() : isShown(child, around))) hidden.add(child);
  }
  for (const { box } of closed) hidden.add(box);
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
    const isUnopened = "popover" in child.attribs || (withDialogs && isClosedDialog(child));
    if (isUnopened && !style.has("display")) return false; // a sheet that says how it is displayed shows it
    const inherited = inherit(child, style, around, variables);
    if (isTakenAway(child, style) || hasNoRoom(child, style, around.layout)) {
      const control = controlBefore(child) ?? tabBefore(child);
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
function tabBefore(box: Element): Element | undefined {
  if (box.attribs["role"] !== "tabpanel") return undefined;
  let place = 0;
  let before = elementBefore(box);
  for (; before?.attribs["role"] === "tabpanel" && place < MAX_TABS; before = elementBefore(before)) place++;
  const { parent } = box;
  const list = before ?? (parent !== null && isElement(parent) ? elementBefore(parent) : undefined);
  return list === undefined
    ? undefined
    : [list, ...elementsBelow(list)].filter(({ attribs }) => attribs["role"] === "tab")[place];
}

function elementBefore({ prev }: Element): Element | undefined {
  let at = prev;
  while (at !== null && !isElement(at)) at = at.prev;
  return at ?? undefined;
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
    [...style].flatMap(([name, value]) =>
      name.startsWith("--")
        ? []
        : withoutKeyword(name, withVariables(value, variables, budget) ?? "unset").map((kept) => [name, kept] as const),
    ),
  );
}

/** Tells whether an element is invisible, whatever its children say of themselves. */
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
  if (of("zoom") !== "" && numberIn(of("zoom")) <= 0.05) return true;
  const moved = withPixels(`${of("transform")} ${of("translate")}`.replaceAll(/[-+]?[\d.]+%/g, "0px")); // a share of its own size
  if ((moved.match(/-[\d.]+px/g) ?? []).some(isFar) || isScaledAway(of("transform"), of("scale"))) return true;

  if (isPlaced && /^rect\(\s*(?:[01](?:px)?[\s,]+){3}[01](?:px)?\s*\)$/.test(of("clip"))) return true;
  if (/^(?:inset\(\s*(?:[5-9]\d|\d{3,})(?:\.\d+)?%|circle\(\s*0(?:px|%)?[\s)])/.test(of("clip-path"))) return true;
  return false;
}

/** Tells whether a box has lost its whole width or height. */
function isScaledAway(transform: string, scale: string): boolean {
  if (transform === "" && scale === "") return false;
  const worked = (value: string): string =>
    withPixels(value.replaceAll(/([-+]?[\d.]+)%/g, (_, share: string) => String(Number(share) / 100)));
  const factors = worked(scale).split(/\s+/, 2).map(numberIn);
  for (const [, name, kind, list = ""] of worked(transform).matchAll(/\b(scale|matrix)(x|y|3d)?\(([^()]*)\)/g)) {
    const numbers = list.split(",").map((part) => numberIn(part.trim()));
    const sides =
      kind === "3d" ? [numbers.slice(0, 2), numbers.slice(4, 6)] : [numbers.slice(0, 2), numbers.slice(2, 4)];
    factors.push(...(name === "scale" ? numbers.slice(0, 2) : sides.map((side) => Math.hypot(...side))));
  }
  return factors.some((factor) => Math.abs(factor) <= 0.05);
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

/** Tells whether readers can see the texts where they stand. */
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
  const own = size === undefined || size === "inherit" ? around.size : fontSizeIn(size, around.size, around.rootSize);
  return {
    isVisible: visibility === undefined || visibility === "inherit" ? around.isVisible : visibility === "visible",
    size: own,
    rootSize: element.name === "html" ? own : around.rootSize,
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
