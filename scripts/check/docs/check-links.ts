import { readFile, stat } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import GithubSlugger from "github-slugger";
import type { Tokens } from "marked";
import { markdownFiles, plainText, tokensOf } from "./markdown.ts";

/**
 * Fails on a link or image of a markdown file that leads to no file, folder or heading of this repository, and on a
 * source file that a code span names and that is not there. Addresses elsewhere are not asked.
 */
export async function checkLinks(root: string): Promise<string> {
  const files = markdownFiles(root);
  const anchors = new Map<string, ReadonlySet<string>>();
  const faults: string[] = [];
  let count = 0;
  for (const file of files) {
    const text = await readFile(join(root, file), "utf8");
    for (const path of sourcesOf(text)) {
      if ((await stat(join(root, path)).catch(() => undefined)) === undefined)
        faults.push(`${file}: \`${path}\`: no such file`);
    }
    for (const link of linksOf(text)) {
      if (/^[a-z][a-z0-9+.-]*:/i.test(link)) continue;
      count++;
      const fault = await faultOf(file, link);
      if (fault !== undefined) faults.push(`${file}: ${link}: ${fault}`);
    }
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return `${count} links in ${files.length} files`;

  async function faultOf(file: string, link: string): Promise<string | undefined> {
    if (link.startsWith("/")) return "a link from the root leads nowhere on a disk";
    const [path = "", anchor] = decodeURI(link).split("#");
    const target = path === "" ? file : normalize(join(dirname(file), path));
    if (target.startsWith("..")) return "leads out of the repository";
    const isThere = await stat(join(root, target)).catch(() => undefined);
    if (isThere === undefined) return "no such file";
    if (anchor === undefined) return undefined;
    if (!target.endsWith(".md")) return /^L\d+(?:-L\d+)?$/.test(anchor) ? undefined : "an anchor needs a markdown file";
    const known = anchors.get(target) ?? anchorsOf(await readFile(join(root, target), "utf8"));
    anchors.set(target, known);
    return known.has(anchor) ? undefined : "no such heading";
  }
}

/** Where the links and images of a text lead, those in HTML too. */
function linksOf(text: string): readonly string[] {
  return tokensOf(text).flatMap((token) => {
    if (token.type === "link" || token.type === "image") return [(token as Tokens.Link).href];
    if (token.type === "html")
      return [...String(token.raw).matchAll(/\b(?:href|src|srcset)="([^"]+)"/g)].map(([, link = ""]) => link);
    return [];
  });
}

/** The source files that code spans name by their path from the root, without those with a place to fill in. */
function sourcesOf(text: string): readonly string[] {
  return tokensOf(text).flatMap((token) => {
    if (token.type !== "codespan") return [];
    const { text: path } = token as Tokens.Codespan;
    return /^(?:packages|services|scripts|test|helm|docker)\/[\w./-]+\.\w+$/.test(path) && !/[A-Z]{3}/.test(path)
      ? [path]
      : [];
  });
}

/** What a link can name in a text: its headings, as GitHub does, and the ids of its HTML. */
function anchorsOf(text: string): ReadonlySet<string> {
  const slugger = new GithubSlugger();
  return new Set(
    tokensOf(text).flatMap((token) => {
      if (token.type === "heading")
        return [slugger.slug(plainText((token as Tokens.Heading).tokens).replaceAll("`", ""))];
      if (token.type === "html") return [...String(token.raw).matchAll(/\bid="([^"]+)"/g)].map(([, id = ""]) => id);
      return [];
    }),
  );
}
