import { type AnyNode, type Element, isElement, isText, textOf } from "./dom.ts";

/**
 * A formula of presentation MathML as TeX. Signs stay as they are: what draws TeX takes them, and people read them. No
 * library does it, for those that could parse the formula again, refuse one that lacks a part, and take more memory
 * than a converter has to spare. It recurses: parsePage bounds the depth.
 * @see https://w3c.github.io/mathml-core/
 */
export const texOfMathml = (math: Element): string => texOf(math).replaceAll(/\s+/g, " ").trim();

function texOf(node: AnyNode): string {
  if (isText(node)) return literal(node.data.trim());
  if (!isElement(node)) return "";
  const token = tokens.get(node.name);
  if (token !== undefined)
    return token(
      textOf(node)
        .replaceAll(/[\s\u00a0]+/g, " ")
        .replaceAll(UNSEEN, "")
        .trim(),
    );
  const parts = node.children.filter((child) => isElement(child) || (isText(child) && child.data.trim() !== ""));
  const rule = rules.get(node.name);
  return rule === undefined ? parts.map(texOf).join("") : rule(parts.map(texOf), node);
}

/** Signs that tell machines that what stands beside them is multiplied, added or applied. */
const UNSEEN = /[\u2061-\u2064\u200b]/g;

const literal = (text: string): string => text.replaceAll("\\", "∖").replaceAll(/[#$%&_{}]/g, "\\$&");
const word = (text: string): string =>
  [...text].length < 2 || !/^\p{L}+$/u.test(text)
    ? literal(text)
    : FUNCTIONS.test(text)
      ? `\\${text} `
      : `\\mathrm{${text}}`;
const FUNCTIONS =
  /^(?:a?(?:sin|cos|tan)h?|arc(?:sin|cos|tan)|arg|cot|csc|deg|det|dim|exp|gcd|inf|ker|lg|lim|limsup|liminf|ln|log|max|min|sec|sup)$/;
const quote = (text: string): string => (text === "" ? " " : `\\text{${literal(text)}}`);

const tokens: ReadonlyMap<string, (text: string) => string> = new Map(
  Object.entries({ mi: word, mo: word, mn: literal, mtext: quote, ms: (text: string) => quote(`"${text}"`) }),
);

/** In braces, where it is more than one sign. */
const group = (tex: string): string => (/^[\p{L}\p{N}]$/u.test(tex) ? tex : `{${tex.trim()}}`);
/** What is raised and lowered parts stand at: a sign, a word, or a group. */
const base = (tex = ""): string =>
  /^(?:.|\p{N}+|\\[a-zA-Z]+ ?|\\(?:mathrm|text|sqrt)\{[^{}]*\})$/u.test(tex) ? tex.trim() : `{${tex}}`;
const script = (sign: "_" | "^", tex = ""): string => (tex === "" ? "" : `${sign}${group(tex)}`);
/** What follows is no part of the name. */
const ended = (tex: string): string => (/\\[a-zA-Z]+$/.test(tex) ? `${tex} ` : tex);

type Rule = (parts: readonly string[], element: Element) => string;

const rules: ReadonlyMap<string, Rule> = new Map(
  Object.entries({
    mfrac: ([above = "", below = ""]) => `\\frac{${above}}{${below}}`,
    msqrt: (parts) => `\\sqrt{${parts.join("")}}`,
    mroot: ([under = "", index = ""]) => `\\sqrt[${index}]{${under}}`,
    msup: ([of, above]) => ended(base(of) + script("^", above)),
    msub: ([of, below]) => ended(base(of) + script("_", below)),
    msubsup: ([of, below, above]) => ended(base(of) + script("_", below) + script("^", above)),
    mover: ([of, above], element) => limits(element, of, { above }),
    munder: ([of, below], element) => limits(element, of, { below }),
    munderover: ([of, below, above], element) => limits(element, of, { below, above }),
    mmultiscripts: (parts, { children }) => {
      const before = children.filter(isElement).findIndex(({ name }) => name === "mprescripts");
      const [of, ...after] = before < 0 ? parts : parts.slice(0, before);
      const ahead = before < 0 ? "" : pairs(parts.slice(before + 1));
      return ended((ahead === "" ? "" : `{}${ahead}`) + base(of) + pairs(after));
    },
    mfenced: (parts, { attribs: { open = "(", close = ")", separators = "," } }) =>
      literal(open) + parts.join(literal(separators.slice(0, 1))) + literal(close),
    mtable: (rows) => `\\begin{matrix}${rows.join(" \\\\ ")}\\end{matrix}`,
    mtr: (cells) => cells.join(" & "),
    mspace: () => " ",
    semantics: ([shown = ""]) => shown,
    maction: ([shown = ""]) => shown,
    ...Object.fromEntries(
      ["annotation", "annotation-xml", "mphantom", "none", "mprescripts"].map((name) => [name, () => ""]),
    ),
  } satisfies Record<string, Rule>),
);

/** Parts below and above by turns. */
const pairs = (parts: readonly string[]): string =>
  parts.map((part, i) => script(i % 2 === 0 ? "_" : "^", part)).join("");

/** What stands below and above: limits of an operator, an accent, or something over something else. */
function limits(
  { children }: Element,
  of = "",
  { below = "", above = "" }: { readonly below?: string | undefined; readonly above?: string | undefined },
): string {
  const [first] = children.filter(isElement);
  if (first?.name === "mo" || /^\\[a-z]+ ?$/.test(of)) return ended(base(of) + script("_", below) + script("^", above));
  const accent = below === "" ? accents.get(above) : undefined;
  if (accent !== undefined) return `\\${accent}{${of}}`;
  const under = below === "" ? of : `\\underset{${below}}{${of}}`;
  return above === "" ? under : `\\overset{${above}}{${under}}`;
}

const accents: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "→": "vec",
    "⃗": "vec",
    "^": "hat",
    ˆ: "hat",
    "~": "tilde",
    "˜": "tilde",
    "¯": "overline",
    "‾": "overline",
    "―": "overline",
    "˙": "dot",
  }),
);
