import { ancestorsOf, type Element, isElement, isText } from "../tree/dom.ts";
import type { StyleBudget } from "./style-budget.ts";

/**
 * The pseudo-classes of what nothing is before somebody uses the page, of parts of scroll bars, and of players: with
 * `visited`, which pages cannot see.
 */
export const laterStates: ReadonlySet<string> = new Set([
  ...[
    "active",
    "active-view-transition",
    "autofill",
    "current",
    "focus",
    "focus-visible",
    "focus-within",
    "fullscreen",
    "future",
    "hover",
    "indeterminate",
  ],
  ...[
    "in-range",
    "interest-source",
    "interest-target",
    "modal",
    "out-of-range",
    "past",
    "picture-in-picture",
    "popover-open",
    "target",
    "target-after",
  ],
  ...[
    "target-before",
    "target-current",
    "user-invalid",
    "user-valid",
    "visited",
    "xr-overlay",
    "-webkit-autofill",
    "-webkit-full-screen",
  ],
  ...[
    "-webkit-full-page-media",
    "-webkit-drag",
    "horizontal",
    "vertical",
    "start",
    "end",
    "increment",
    "decrement",
    "single-button",
    "double-button",
  ],
  ...["no-button", "corner-present", "window-inactive", "default"],
  // Parts of elements, as old sheets name them.
  ...["before", "after", "first-line", "first-letter"],
]);

const fields: ReadonlySet<string> = new Set(["input", "select", "textarea"]);
const controls: ReadonlySet<string> = new Set([...fields, "button", "fieldset", "optgroup", "option"]);
/** Of inputs, those that hold no text. */
const noText = /^(?:button|checkbox|color|file|hidden|image|radio|range|reset|submit)$/i;

const isDisabled = (element: Element, budget: StyleBudget): boolean => {
  const { name, attribs } = element;
  if (!controls.has(name)) return false;
  if ("disabled" in attribs) return true;
  for (const around of ancestorsOf(element)) {
    budget.spend(1);
    if (around.name === "legend") return false;
    if (
      (around.name === "fieldset" || (name === "option" && around.name === "optgroup")) &&
      "disabled" in around.attribs
    )
      return true;
  }
  return false;
};

const isWritable = (element: Element, budget: StyleBudget): boolean => {
  const { name, attribs } = element;
  if (name === "textarea" || (name === "input" && !noText.test(attribs["type"] ?? "")))
    return !("readonly" in attribs) && !isDisabled(element, budget);
  return /^(?:|true|plaintext-only)$/i.test(nearest(element, "contenteditable", budget) ?? "false");
};

/** What the nearest element with an attribute says, of the element itself and those around it. */
function nearest(element: Element, attribute: string, budget: StyleBudget): string | undefined {
  for (
    let at: Element | null = element;
    at !== null;
    at = at.parent !== null && isElement(at.parent) ? at.parent : null
  ) {
    budget.spend(1);
    if (at.attribs[attribute] !== undefined) return at.attribs[attribute];
  }
  return undefined;
}

const isUnfilled = ({ name, attribs }: Element): boolean =>
  fields.has(name) && "required" in attribs && (attribs["value"] ?? "") === "";
const isLink = ({ name, attribs }: Element): boolean =>
  (name === "a" || name === "area") && attribs["href"] !== undefined;

/** Pseudo-classes that the page itself decides. */
export const pageStates: Readonly<Record<string, (element: Element, budget: StyleBudget) => boolean>> = {
  "any-link": isLink,
  link: isLink,
  "-webkit-any-link": isLink,
  checked: ({ name, attribs }) =>
    (name === "input" && /^(?:checkbox|radio)$/i.test(attribs["type"] ?? "") && "checked" in attribs) ||
    (name === "option" && "selected" in attribs),
  disabled: isDisabled,
  enabled: (element, budget) => controls.has(element.name) && !isDisabled(element, budget),
  required: ({ name, attribs }) => fields.has(name) && "required" in attribs,
  optional: ({ name, attribs }) => fields.has(name) && !("required" in attribs),
  invalid: isUnfilled,
  valid: (element) => (controls.has(element.name) || element.name === "form") && !isUnfilled(element),
  "read-write": isWritable,
  "read-only": (element, budget) => !isWritable(element, budget),
  "placeholder-shown": ({ name, attribs }) =>
    /^(?:input|textarea)$/.test(name) && "placeholder" in attribs && (attribs["value"] ?? "") === "",
  open: ({ name, attribs }) => /^(?:details|dialog)$/.test(name) && "open" in attribs,
  empty: ({ children }) => !children.some((child) => isElement(child) || (isText(child) && child.data !== "")),
};

export const isRoot = ({ name, parent }: Element): boolean =>
  name === "html" && (parent === null || !isElement(parent));

export const directionOf = (element: Element, budget: StyleBudget): string =>
  /^rtl$/i.test(nearest(element, "dir", budget) ?? "") ? "rtl" : "ltr";

/** Whether an element's language is in a range, such as `de` or `*-CH`. */
export function isOfLanguage(element: Element, range: string, budget: StyleBudget): boolean {
  const own = `${nearest(element, "lang", budget) ?? ""}-`.toLowerCase();
  const asked = range.toLowerCase();
  return asked.startsWith("*-") ? own.includes(`${asked.slice(1)}-`) : own !== "-" && own.startsWith(`${asked}-`);
}
