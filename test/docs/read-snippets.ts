/** What is done with a block of code of a page. */
export type Use =
  | { readonly kind: "run" }
  /** Only its form is looked at. */
  | { readonly kind: "parse"; readonly reason: string }
  | { readonly kind: "skip"; readonly reason: string }
  /**
   * It is the content of this file, or is added to it, or each of its lines takes the place of the one that begins the
   * same.
   */
  | { readonly kind: "file" | "append" | "edit"; readonly path: string }
  /** It stands in this file of the repository, whose own test runs it. */
  | { readonly kind: "from"; readonly path: string };

export interface Snippet {
  readonly page: string;
  /** The line where its code begins. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  readonly use: Use;
  /** The exit code that it must have. */
  readonly exitCode: number;
  /** Words of the code that stand for what these commands print. */
  readonly words: Readonly<Record<string, string>>;
}

const FENCE = /^(\s*)(`{3,})(\S*)/;
const MARKER = /^\s*<!-- snippet: (.+?) -->\s*$/;
const SETUP = /^\s*<!-- snippet: setup$/;
const LANGUAGES: ReadonlySet<string> = new Set(["sh", "bash", "ts", "python", "yaml", "json"]);
/** Languages of blocks that are shown, and not to be typed: output and pictures. */
const SHOWN: ReadonlySet<string> = new Set(["", "text", "mermaid"]);

/**
 * The blocks of code of a page, in order. A block without a marker is run. The comment before it may say otherwise:
 * `<!-- snippet: skip, because it needs … -->`, `parse, because …`, `file=PATH`, `append=PATH`, `edit=PATH`,
 * `from=PATH`, and beside these `fails=CODE`, `with WORD=COMMAND`. A comment `<!-- snippet: setup`, the lines after it
 * and `-->` are commands that readers do not see.
 * @throws {Error} naming the place of a marker or language that is not one of these
 */
export function readSnippets(page: string, text: string): readonly Snippet[] {
  const lines = text.split("\n");
  const snippets: Snippet[] = [];
  let marker = "run";
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    const at = `${page}:${index + 1}`;
    const said = MARKER.exec(line)?.[1];
    const fence = FENCE.exec(line);
    if (SETUP.test(line)) {
      const end = lines.indexOf("-->", index);
      if (end < 0) throw new Error(`${at}: a setup without its end`);
      snippets.push({
        page,
        line: index + 2,
        language: "sh",
        code: lines.slice(index + 1, end).join("\n"),
        ...readMarker("run", at),
      });
      index = end;
    } else if (said !== undefined) marker = said;
    else if (fence !== null) {
      const [, indent = "", ticks = "", language = ""] = fence;
      const end = lines.findIndex((other, place) => place > index && other.trim() === ticks);
      if (end < 0) throw new Error(`${at}: a block of code without its end`);
      const code = lines.slice(index + 1, end).map((one) => (one.startsWith(indent) ? one.slice(indent.length) : one));
      if (LANGUAGES.has(language))
        snippets.push({ page, line: index + 2, language, code: code.join("\n"), ...readMarker(marker, at) });
      else if (!SHOWN.has(language)) throw new Error(`${at}: no test knows what to do with a block of "${language}"`);
      marker = "run";
      index = end;
    }
  }
  return snippets;
}

function readMarker(marker: string, at: string): Pick<Snippet, "use" | "exitCode" | "words"> {
  let use: Use = { kind: "run" };
  let exitCode = 0;
  const words: Record<string, string> = {};
  const because = /^(skip|parse), because (.+)$/.exec(marker);
  const parts = because === null && marker !== "run" ? marker.split(", ") : [];
  if (because !== null) use = { kind: because[1] as "skip" | "parse", reason: String(because[2]) };
  for (const part of parts) {
    const [, verb = "", name = "", value = ""] = /^(?:(with) )?(\w+)=(.+)$/.exec(part) ?? [];
    if (verb === "with") words[name] = value;
    else if (name === "fails") exitCode = Number(value);
    else if (name === "file" || name === "append" || name === "edit" || name === "from")
      use = { kind: name, path: value };
    else throw new Error(`${at}: "${part}" is no marker: see test/docs/read-snippets.ts`);
  }
  return { use, exitCode, words };
}
