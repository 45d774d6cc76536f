import { type Dirent, globSync } from "node:fs";
import { join, relative } from "node:path";
import { marked, type Token, type Tokens } from "marked";

/** What .gitignore names that can hold such files. Read from here, since not every machine that checks has git. */
const IGNORED = new Set(["node_modules", "dist", "coverage"]);

/** The markdown files of the repository, as paths below `root`. */
export function markdownFiles(root: string): readonly string[] {
  const exclude = (entry: Dirent): boolean =>
    IGNORED.has(entry.name) || (entry.isDirectory() && entry.name.startsWith("."));
  return globSync("**/*.md", { cwd: root, withFileTypes: true, exclude })
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith("scripts/generate/pages/")) // their links lead on from where the page is written
    .sort();
}

/** All tokens of a text, in their order, each before those inside it. */
export function tokensOf(text: string): readonly Token[] {
  const all: Token[] = [];
  // Nothing of it is asynchronous.
  void marked.walkTokens(marked.lexer(text), (token) => {
    all.push(token);
  });
  return all;
}

/** What readers see of inline tokens, with code in backticks. */
export function plainText(tokens: readonly Token[] = []): string {
  return tokens
    .map((token) => {
      if (token.type === "codespan") return `\`${(token as Tokens.Codespan).text}\``;
      if (token.type === "html") return "";
      if (token.type === "br") return " ";
      if ("tokens" in token && token.tokens !== undefined) return plainText(token.tokens);
      return "text" in token ? String(token.text) : "";
    })
    .join("")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

/**
 * The blocks of prose of a page: paragraphs and list items, without headings, code and HTML; and the cells of its
 * tables.
 */
export function proseOf(text: string): { readonly blocks: readonly string[]; readonly cells: readonly string[] } {
  const blocks: string[] = [];
  const cells: string[] = [];
  collect(marked.lexer(text));
  return { blocks, cells };

  function collect(tokens: readonly Token[]): void {
    for (const token of tokens) {
      if (token.type === "paragraph" || token.type === "text")
        blocks.push(plainText((token as Tokens.Paragraph).tokens));
      else if (token.type === "list") for (const item of (token as Tokens.List).items) collect(item.tokens);
      else if (token.type === "blockquote") collect((token as Tokens.Blockquote).tokens);
      else if (token.type === "table") {
        for (const row of (token as Tokens.Table).rows) cells.push(...row.map((cell) => plainText(cell.tokens)));
      }
    }
  }
}
