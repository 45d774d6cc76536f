import { type AttributeSelector, type ClassSelector, type IdSelector, ident } from "css-tree/dist/csstree.esm";
import { classNamesIn, type Element } from "../tree/dom.ts";
import { folded } from "../tree/quirks.ts";
import { CLASS, ID, NAME, never, type Reading, type SelectorPage } from "./compiled-selector.ts";
import type { Test } from "./match-chain.ts";
import { steps } from "./style-budget.ts";

export function idTest({ name: written }: IdSelector, reading: Reading): Test | undefined {
  const { isQuirky } = reading.context.page;
  if (!/^(?:-?(?:[a-z_]|[^\0-\u007f]|\\)|--)/i.test(written)) return undefined;
  reading.specificity += ID;
  const id = folded(ident.decode(written), isQuirky);
  return ({ attribs }) => attribs["id"] !== undefined && folded(attribs["id"], isQuirky) === id;
}

export function classTest({ name: written }: ClassSelector, reading: Reading): Test {
  const { page } = reading.context;
  reading.specificity += CLASS;
  const name = folded(ident.decode(written), page.isQuirky);
  return (element) => classesOf(element, page).has(name);
}

export function typeTest(written: string, reading: Reading): Test | undefined {
  const [name = "", prefix = "*"] = written.split("|").reverse();
  if (name !== "*") reading.specificity += NAME;
  if (prefix === "") return never; // of no namespace
  if (prefix !== "*") return undefined;
  if (name === "*") return () => true;
  const type = ident.decode(name).toLowerCase();
  return (element) => element.name === type;
}

function classesOf(element: Element, { classes, isQuirky }: SelectorPage): ReadonlySet<string> {
  let found = classes.get(element);
  if (found === undefined) {
    found = new Set(classNamesIn(folded(element.attribs["class"] ?? "", isQuirky)));
    classes.set(element, found);
  }
  return found;
}

/**
 * Whose values are compared without their case.
 * @see https://html.spec.whatwg.org/multipage/semantics-other.html#case-sensitivity-of-selectors
 */
const caseless: ReadonlySet<string> = new Set([
  ...[
    "accept",
    "accept-charset",
    "align",
    "alink",
    "axis",
    "bgcolor",
    "charset",
    "checked",
    "clear",
    "codetype",
    "color",
    "compact",
    "declare",
    "defer",
    "dir",
  ],
  ...[
    "direction",
    "disabled",
    "enctype",
    "face",
    "frame",
    "hreflang",
    "http-equiv",
    "lang",
    "language",
    "link",
    "media",
    "method",
    "multiple",
    "nohref",
  ],
  ...[
    "noresize",
    "noshade",
    "nowrap",
    "readonly",
    "rel",
    "rev",
    "rules",
    "scope",
    "scrolling",
    "selected",
    "shape",
    "target",
    "text",
    "type",
    "valign",
  ],
  ...["valuetype", "vlink"],
]);

export function attributeTest(
  { name: { name: written }, matcher, value: asked, flags }: AttributeSelector,
  reading: Reading,
): Test | undefined {
  const { budget } = reading.context.page;
  reading.specificity += CLASS;
  const [local = "", prefix = ""] = written.split("|").reverse();
  if (prefix !== "" && prefix !== "*") return undefined;
  if (flags !== null && !/^[is]$/i.test(flags)) return undefined;
  const name = ident.decode(local).toLowerCase();
  if (matcher === null || asked === null) return ({ attribs }) => attribs[name] !== undefined;
  const isCaseless = flags === null ? caseless.has(name) : flags.toLowerCase() === "i";
  const comparable = (text: string): string => (isCaseless ? text.toLowerCase() : text);
  const value = comparable(asked.type === "Identifier" ? ident.decode(asked.name) : asked.value);
  const compare = matcher === "~=" ? wordTest(value) : comparisons[matcher];
  if (compare === undefined) return undefined;
  return ({ attribs }) => {
    const own = attribs[name];
    if (own === undefined) return false;
    budget.spend(own.length * steps.compared);
    return compare(comparable(own), value);
  };
}

const comparisons: Readonly<Record<string, (own: string, value: string) => boolean>> = {
  "=": (own, value) => own === value,
  "|=": (own, value) => own === value || own.startsWith(`${value}-`),
  "^=": (own, value) => value !== "" && own.startsWith(value),
  "$=": (own, value) => value !== "" && own.endsWith(value),
  "*=": (own, value) => value !== "" && own.includes(value),
};

/** Whether one of the words of a value is this one: without a list of them, which a long value would make dear. */
function wordTest(word: string): (own: string) => boolean {
  if (word === "" || /[ \t\n\f\r]/.test(word)) return () => false;
  const pattern = new RegExp(
    `(?:^|[ \\t\\n\\f\\r])${word.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")}(?![^ \\t\\n\\f\\r])`,
  );
  return (own) => pattern.test(own);
}
