import { saidBy, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { type FileFacts, type FileStore, noSuchFile, type OpenFile } from "@rockbot/records/files";
import { defineTool, type Tool } from "@rockbot/tools";
import { findIn } from "../search/find-in.ts";

/** Whose files are read, and how much of one a model reads at once. */
export interface ReadKeptFileOptions {
  readonly owner: string;
  /** The most characters of one result. */
  readonly pageChars: number;
}

/** A text is looked for in files of so many bytes at most. */
const MAX_SEARCHED_BYTES = 16 * 1024 ** 2;
/** What is said beside a part or matches fits in so many characters. */
const NOTICE_CHARS = 700;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** `read_kept_file`: a part of a text file of the session's caller, or the lines where a text stands in it. */
export function readKeptFile(files: FileStore, { owner, pageChars }: ReadKeptFileOptions): Tool {
  return defineTool(tools.readKeptFile, async ({ file: handle, offset = 0, length, find, context }) => {
    const listed = await files.find(owner, handle);
    if (listed === undefined) throw noSuchFile(handle);
    const open = await files.open({ owner, handle, key: listed.key });
    const { name, type, size, isUntrusted } = open.facts;
    const facts = { name, type, size };
    const marked = isUntrusted ? { trust: saidBy(`the file ${name}`) } : {};
    const room = Math.max(1_000, pageChars) - NOTICE_CHARS;
    if (find === undefined) {
      const part = await textAt(open, offset, Math.min(length ?? room, room));
      const where =
        part.next === null
          ? `"${name}" (${type}, ${size} bytes): bytes ${offset} to ${size}, its end`
          : `"${name}" (${type}, ${size} bytes): bytes ${offset} to ${part.next}; read on with offset ${part.next}`;
      return { content: `${part.text}\n[${where}]`, structured: { ...facts, next_offset: part.next }, ...marked };
    }
    if (size > MAX_SEARCHED_BYTES)
      throw new ToolError(
        ToolErrorCode.TooLarge,
        `Cannot look for a text in the file: it has ${size} bytes, and at most ${MAX_SEARCHED_BYTES} are searched. Read it in parts`,
      );
    const text = await textOf(open, 0, size);
    const found = await findIn(text, { text: find, skip: offset, limit: length, contextLines: context });
    const shown = fitting(found.matches, room);
    const next = offset + shown.length;
    const head = `${found.total} match(es) for "${find}" in "${name}", which has ${found.lines} line(s).`;
    const more =
      next < found.total ? [`[matches ${offset} to ${next} of ${found.total}; go on with offset ${next}]`] : [];
    return {
      content: [head, ...shown.map(({ excerpt }) => excerpt), ...more].join("\n--\n"),
      structured: { ...facts, next_offset: next < found.total ? next : null, matches_total: found.total },
      ...marked,
    };
  });
}

function fitting<Place extends { readonly excerpt: string }>(places: readonly Place[], room: number): readonly Place[] {
  let left = room;
  return places.filter(({ excerpt }, index) => {
    left -= excerpt.length + 4;
    return left >= 0 || index === 0;
  });
}

/** The text of some bytes, and where the next begins. No letter is cut in two. */
async function textAt(open: OpenFile, offset: number, length: number) {
  const end = Math.min(open.facts.size, offset + length);
  for (let to = end; ; to++) {
    const text = await textOf(open, offset, Math.min(to, open.facts.size), to < Math.min(open.facts.size, end + 3));
    if (text !== undefined) return { text, next: to < open.facts.size ? to : null };
  }
}

async function textOf(open: OpenFile, from: number, to: number): Promise<string>;
async function textOf(open: OpenFile, from: number, to: number, isTry: boolean): Promise<string | undefined>;
async function textOf(open: OpenFile, from: number, to: number, isTry = false): Promise<string | undefined> {
  const parts: Buffer[] = [];
  for await (const part of open.read(from, to)) parts.push(part);
  const bytes = Buffer.concat(parts);
  try {
    if (!bytes.includes(0)) return utf8.decode(bytes);
  } catch {
    if (isTry) return undefined;
  }
  throw notText(open.facts);
}

/** Without the file's name, which may be a stranger's: an error has no mark. */
const notText = ({ type, size }: FileFacts): ToolError =>
  new ToolError(
    ToolErrorCode.InvalidArguments,
    `Cannot read the file as text: it is ${type} of ${size} bytes, or the offset is within a letter. Read it from another offset, or give it to a tool that takes files of any kind`,
  );
