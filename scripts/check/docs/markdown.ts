import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { marked, type Token, type Tokens } from "marked";

/** The markdown files of the repository that git knows or would take, as paths below `root`; without templates of generated pages, which are checked as those. */
export async function markdownFiles(root: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", "*.md", ":!scripts/generate/pages"],
    { cwd: root },
  );
  const files = stdout.split("\0").filter(Boolean);
  const isThere = await Promise.all(
    files.map((file) =>
      readFile(join(root, file)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return files.filter((_, index) => isThere[index]);
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

/** The blocks of prose of a page: paragraphs and list items, without headings, code and HTML; and the cells of its tables. */
export function proseOf(text: string): { readonly blocks: readonly string[]; readonly cells: readonly string[] } {
  const blocks: string[] = [];
  const cells: string[] = [];
  collect(marked.lexer(text));
  return { blocks, cells };

  function collect(tokens: readonly Token[]): void {
    for (const token of tokens) {
      if (token.type === "paragraph" || token.type === "text") blocks.push(plainText((token as Tokens.Paragraph).tokens));
      else if (token.type === "list") for (const item of (token as Tokens.List).items) collect(item.tokens);
      else if (token.type === "blockquote") collect((token as Tokens.Blockquote).tokens);
      else if (token.type === "table") {
        for (const row of (token as Tokens.Table).rows) cells.push(...row.map((cell) => plainText(cell.tokens)));
      }
    }
  }
}
