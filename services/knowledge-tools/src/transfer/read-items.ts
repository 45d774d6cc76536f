import { createReadStream } from "node:fs";
import { glob, lstat, readFile, stat } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { TextDecoder } from "node:util";
import { yamlValue } from "@rockbot/contracts";
import { parseDocument } from "yaml";
import { fold, type KnowledgeItem, storable } from "../item/knowledge-item.ts";

/** What items are that do not say so themselves. */
export interface ItemDefaults {
  readonly owner: string;
  readonly space: string | undefined;
  /** Set if strangers wrote what is imported: where. */
  readonly origin: string | undefined;
  readonly kinds: readonly string[];
  /** The time of the import, in Unix milliseconds. */
  readonly at: number;
}

/**
 * A file cannot be imported. Its message names the file, the line where there are many, and all that is wrong there.
 */
export class ImportError extends Error {
  override readonly name = "ImportError";
}

const MAX = { id: 200, title: 300, body: 200_000, name: 100, categories: 20, tags: 50, line: 4_000_000 } as const;

/**
 * The items of a folder of markdown files, each with front matter or none, or of a file with one JSON object on each
 * line. They come one by one, so that a large import needs little memory.
 * @throws {ImportError}
 */
export async function* readItems(path: string, defaults: ItemDefaults): AsyncGenerator<KnowledgeItem> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new ImportError(
      `Cannot import ${path}: ${error.code === "ENOENT" ? "there is no such file or folder" : error.code}`,
    );
  });
  if (found.isDirectory()) yield* folderItems(path, defaults);
  else if (extname(path) === ".jsonl") yield* lineItems(path, defaults);
  else throw new ImportError(`Cannot import ${path}: expected a folder of markdown files, or a file NAME.jsonl`);
}

async function* folderItems(folder: string, defaults: ItemDefaults): AsyncGenerator<KnowledgeItem> {
  for await (const path of glob("**/*.md", { cwd: folder })) {
    const file = join(folder, path);
    const found = await lstat(file);
    if (found.isDirectory()) continue;
    // Who made the folder may be a stranger: a link leads to files of this machine, and a FIFO is never read to its
    // end.
    if (!found.isFile())
      throw new ImportError(
        `Cannot import ${file}: it is ${found.isSymbolicLink() ? "a symlink, which is not followed" : "no regular file"}`,
      );
    if (found.size > MAX.line) throw new ImportError(`Cannot import ${file}: it has more than ${MAX.line} bytes`);
    const { attributes, body } = frontMatter(
      file,
      decoded(file, new TextDecoder("utf-8", STRICT), await readFile(file)),
    );
    const heading = /^#\s+(.+?)\s*#*\s*$/m.exec(body)?.[1];
    const id = relative(folder, file).split(sep).join("/").replace(/\.md$/, "");
    yield itemOf({ id, title: heading ?? basename(id), ...attributes, body }, file, defaults);
  }
}

async function* lineItems(file: string, defaults: ItemDefaults): AsyncGenerator<KnowledgeItem> {
  let number = 0;
  for await (const given of linesOf(file)) {
    number++;
    const line = given.trim();
    if (line === "") continue;
    const where = `${file}, line ${number}`;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw new ImportError(`Cannot import ${where}: it is not JSON`);
    }
    yield itemOf(value, where, defaults);
  }
}

/** Lines end in LF only: U+2028 and its like, where readline ends one as well, stand in texts of JSON. */
async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder("utf-8", STRICT);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const [first = "", ...others] = decoded(file, decoder, chunk, { stream: true }).split("\n");
    rest += first;
    for (const other of others) {
      yield rest;
      rest = other;
    }
    if (rest.length > MAX.line)
      throw new ImportError(`Cannot import ${file}: it has a line of more than ${MAX.line} characters`);
  }
  rest += decoded(file, decoder, Buffer.of());
  if (rest !== "") yield rest;
}

const STRICT = { fatal: true, ignoreBOM: true };

/** Bytes of another charset would become texts with wrong characters, without a word. @throws {ImportError} */
function decoded(file: string, decoder: TextDecoder, bytes: Buffer, options?: { readonly stream: boolean }): string {
  try {
    return decoder.decode(bytes, options);
  } catch {
    throw new ImportError(`Cannot import ${file}: it is not UTF-8 text`);
  }
}

function frontMatter(file: string, text: string): { readonly attributes: object; readonly body: string } {
  const [whole, yaml] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n?---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  if (whole === undefined || yaml === undefined) return { attributes: {}, body: text.trim() };
  const document = parseDocument(yaml, { prettyErrors: false, logLevel: "error" });
  const [fault] = document.errors;
  if (fault !== undefined)
    throw new ImportError(`Cannot import ${file}: its front matter is not YAML: ${fault.message}`);
  const { value: attributes, fault: unfit } = yamlValue(document);
  if (unfit !== undefined) throw new ImportError(`Cannot import ${file}: its front matter cannot be used: ${unfit}`);
  return {
    attributes: typeof attributes === "object" && attributes !== null && !Array.isArray(attributes) ? attributes : {},
    body: text.slice(whole.length).trim(),
  };
}

/** @throws {ImportError} with all that is wrong with it */
function itemOf(value: unknown, where: string, { owner, space, origin, kinds, at }: ItemDefaults): KnowledgeItem {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new ImportError(`Cannot import ${where}: expected a JSON object`);
  const read = new Fields(value as Readonly<Record<string, unknown>>);
  const wanted = read.text("kind", MAX.name) ?? kinds[0] ?? "";
  const kind = kinds.find((each) => fold(each) === fold(wanted));
  if (kind === undefined) read.faults.push(`kind: ${JSON.stringify(wanted)} is none of ${kinds.join(", ")}`);
  const by = read.text("owner", MAX.name) ?? owner;
  const item: KnowledgeItem = {
    id: read.needed("id", MAX.id),
    kind: kind ?? "",
    title: read.whole("title", MAX.title),
    body: read.whole("body", MAX.body),
    author: read.text("author", MAX.name) ?? by,
    categories: read.names("categories", "category", MAX.categories),
    tags: read.names("tags", "tag", MAX.tags),
    owner: by,
    space: "space" in read.value ? read.text("space", 39) : space,
    origin: read.text("origin", 2_000) ?? origin,
    createdAt: read.time("created_at", "date") ?? at,
    updatedAt: read.time("updated_at", "updated") ?? at,
  };
  if (item.space !== undefined && !/^[a-z0-9][a-z0-9-]{0,38}$/.test(item.space))
    read.faults.push("space: expected 1 to 39 of a-z, 0-9 and -");
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(item.owner)) read.faults.push("owner: expected the name of a caller");
  if (read.faults.length > 0) throw new ImportError(`Cannot import ${where}: ${read.faults.join("; ")}`);
  return item;
}

/** Reads the fields of one item, and collects what is wrong with them. */
class Fields {
  readonly faults: string[] = [];
  readonly value: Readonly<Record<string, unknown>>;

  constructor(value: Readonly<Record<string, unknown>>) {
    this.value = value;
  }

  /** Numbers are texts, too, as YAML takes a title such as 2024 for one. */
  text(name: string, max: number): string | undefined {
    const value = this.value[name];
    if (value == null) return undefined;
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text === "string" && text.trim() !== "" && fits(text, max)) return storable(text.trim());
    this.faults.push(`${name}: expected a text of 1 to ${max} characters`);
    return undefined;
  }

  needed(name: string, max: number): string {
    const text = this.text(name, max);
    if (text === undefined && this.value[name] == null) this.faults.push(`${name}: is missing`);
    return text ?? "";
  }

  /** The same as it stands there: white space around it may mean something, and an export has it. */
  whole(name: string, max: number): string {
    return this.needed(name, max) === "" ? "" : storable(String(this.value[name]));
  }

  /** A list of names, or one name. */
  names(name: string, one: string, max: number): string[] {
    const given = this.value[name] ?? this.value[one] ?? [];
    const names = (Array.isArray(given) ? given : [given]).map((each) =>
      typeof each === "number" ? String(each) : each,
    );
    if (
      names.length <= max &&
      names.every((each): each is string => typeof each === "string" && each.trim() !== "" && fits(each, MAX.name))
    )
      return [...new Map(names.map((each) => [fold(each), storable(each.trim())])).values()];
    this.faults.push(`${name}: expected at most ${max} names of at most ${MAX.name} characters`);
    return [];
  }

  time(name: string, other: string): number | undefined {
    const given = this.value[name] ?? this.value[other];
    if (given == null) return undefined;
    const ms = given instanceof Date ? given.getTime() : typeof given === "string" ? Date.parse(given) : Number.NaN;
    if (Number.isSafeInteger(ms)) return ms;
    this.faults.push(`${name}: expected a date`);
    return undefined;
  }
}

/**
 * Counts characters as the schema of `knowledge_save` does, so that what was saved can be imported again: one outside
 * the BMP is one, and two of a string.
 */
const fits = (text: string, max: number): boolean =>
  text.length <= max || (text.length <= 2 * max && [...text].length <= max);
