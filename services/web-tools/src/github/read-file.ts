import { isRecord } from "@rockbot/base";
import { fence, valueAt, visibleText } from "@rockbot/contracts";
import { decodeText } from "@rockbot/page";
import { type GithubApi, malformedAnswer } from "./github-api.ts";
import type { GithubPage } from "./github-page.ts";
import type { GithubPlace } from "./github-place.ts";
import { lineAt } from "./github-text.ts";

/** A branch's name may have slashes: so many of its parts are tried. */
const MAX_REF_PARTS = 3;

/** The text that a repository shows first; undefined if there is none, or none that may be seen. */
export async function readReadme(
  { owner, repo }: Place<"readme">,
  api: GithubApi,
  signal: AbortSignal,
): Promise<GithubPage | undefined> {
  const text = textOf(await api.raw(`/repos/${owner}/${repo}/readme`, signal));
  return text === undefined ? undefined : { title: `${owner}/${repo}`, markdown: text };
}

/** A file as it is; undefined if there is none, or it is no text. */
export async function readFile(
  { owner, repo, path }: Place<"file">,
  api: GithubApi,
  signal: AbortSignal,
): Promise<GithubPage | undefined> {
  for (let parts = 1; parts <= Math.min(MAX_REF_PARTS, path.length - 1); parts++) {
    const name = path.slice(parts);
    const ref = encodeURIComponent(path.slice(0, parts).join("/"));
    const bytes = await api.raw(
      `/repos/${owner}/${repo}/contents/${name.map(encodeURIComponent).join("/")}?ref=${ref}`,
      signal,
    );
    const text = textOf(bytes);
    if (text !== undefined)
      return { title: `${name.join("/")} [${owner}/${repo}]`, markdown: asMarkdown(text, name.at(-1) ?? "") };
    if (bytes !== undefined) return undefined;
  }
  return undefined;
}

/** The files of a gist. GitHub's API cuts a large one, and the text says so. */
export async function readGist(
  { id, revision }: Place<"gist">,
  api: GithubApi,
  signal: AbortSignal,
): Promise<GithubPage | undefined> {
  const gist = await api.json(`/gists/${id}${revision === undefined ? "" : `/${revision}`}`, signal);
  if (gist === undefined) return undefined;
  const listed = valueAt(gist.value, "/files");
  if (!isRecord(listed)) throw malformedAnswer();
  const files = Object.entries(listed).map(([key, file]) => {
    const name = lineAt(file, "/filename") || lineAt({ key }, "/key");
    const content: unknown = valueAt(file, "/content");
    const text = asMarkdown(typeof content === "string" ? visibleText(content) : "", name);
    return `## ${name}\n\n${text}${valueAt(file, "/truncated") === true ? "\n\n(The file is longer than what GitHub gives of it.)" : ""}`;
  });
  return { title: lineAt(gist.value, "/description") || `Gist ${id}`, markdown: files.join("\n\n") };
}

type Place<Kind extends GithubPlace["kind"]> = Extract<GithubPlace, { kind: Kind }>;

function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined || bytes.includes(0)) return undefined;
  const text = decodeText(bytes, "text/plain");
  return text === undefined ? undefined : visibleText(text).trim();
}

/** What reads as text stays so; the rest is code of the language that its name ends in. */
function asMarkdown(text: string, name: string): string {
  const [, ending = ""] = /\.([a-z0-9+-]{1,20})$/i.exec(name) ?? [];
  return /^(md|markdown|txt|rst|adoc)$/i.test(ending) ? text : fence(text, ending.toLowerCase());
}
