import { ancestorsOf, type Element, isElement } from "./dom.ts";

/**
 * The language of a block of code, as the page names it; "" where it does not.
 * @see https://html.spec.whatwg.org/multipage/text-level-semantics.html#the-code-element for `language-`; the others
 * are highlighters' habits
 */
export function languageOf(block: Element): string {
  const inside = block.children.filter(isElement).find(({ name }) => name === "code");
  const own = [...(inside === undefined ? [] : [inside]), block];
  for (const { attribs } of [...own, ...[...ancestorsOf(block)].slice(0, 7)]) {
    const said =
      attribs["data-lang"] ??
      attribs["data-language"] ??
      attribs["data-code-language"] ??
      attribs["data-enlighter-language"];
    const found = clean(
      said ??
        patterns.map((pattern) => pattern.exec(attribs["class"] ?? "")?.[1]).find((language) => language !== undefined),
    );
    if (found !== "") return found;
  }
  // A name by itself means a language on the code's own element only.
  for (const { attribs } of own) {
    const word = (attribs["class"] ?? "")
      .toLowerCase()
      .split(/\s+/)
      .find((part) => languages.has(part));
    if (word !== undefined) return word;
  }
  return "";
}

/** The language that a text names, and says nothing else; "" if it names none. */
export function languageNamed(text: string): string {
  const word = text.toLowerCase();
  return languages.has(word) ? word : (titles.get(word) ?? "");
}

/** Names that are written otherwise for people. */
const titles: ReadonlyMap<string, string> = new Map([
  ["objective-c", "objectivec"],
  ["plain text", "text"],
  ["plaintext", "text"],
  ["shell session", "console"],
]);

const patterns: readonly RegExp[] = [
  /(?:^|\s)(?:language|lang)[-:]([\w+#.-]+)/,
  /(?:^|\s)highlight-(?:source|text)-([\w+#.]+)/,
  /(?:^|\s)highlight-([\w+#.]+)(?:\s|$)/,
  /(?:^|\s)brush:\s*([\w+#.]+)/,
  /(?:^|\s)(?:sourceCode|syntaxhighlighter|nohighlight)\s+([\w+#.]+)/,
  /(?:^|\s)src-([\w+#.]+)/,
];

const clean = (language: string | undefined): string => {
  const name = (language ?? "").toLowerCase();
  return /^[\w+#.-]{1,20}$/.test(name) && !meaningless.has(name) ? name : "";
};

const meaningless: ReadonlySet<string> = new Set([
  "none",
  "default",
  "notranslate",
  "wrapper",
  "line",
  "lines",
  "source",
  "text-only",
  "nogutter",
  "auto",
  "undefined",
  "nohighlight",
  "container",
  "block",
  "inner",
]);

const languages: ReadonlySet<string> = new Set(
  "bash sh shell console powershell c cpp c++ csharp c# cs css scss less dart diff dockerfile elixir elm erlang fsharp go golang graphql groovy haskell hcl html http ini java javascript js json jsx julia kotlin latex lisp lua makefile markdown matlab nginx nix objectivec ocaml perl php prolog python py r ruby rb rust rs scala scheme sql swift terraform toml ts tsx typescript vb vim vue xml yaml yml zig".split(
    " ",
  ),
);
