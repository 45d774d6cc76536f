import { basename } from "node:path";
import { ToolError, ToolErrorCode, type ToolReadFileOutput, tools, visibleText } from "@rockbot/contracts";
import { decodeText, documentKind, kindByBytes, PageConversionError, type PageConverter } from "@rockbot/page";
import { defineTool, type Tool, type ToolResult } from "@rockbot/tools";
import { readBounded } from "../files/read-bounded.ts";
import { inWords, Workspace } from "../files/workspace.ts";
import { shown } from "../files/workspace-path.ts";
import type { WorkspaceRoots } from "../files/workspace-roots.ts";
import { fromWorkspace } from "./from-workspace.ts";
import { leaveFile } from "./kept-files.ts";

export interface ReadFileOptions {
  readonly roots: WorkspaceRoots;
  /** Reads documents and images, which are strangers' programs, in processes of their own. */
  readonly converter: PageConverter;
  readonly maxBytes: number;
}

const LINES = 2_000;
/** The bound of the text of an answer, whatever its lines are. */
const MOST_CHARACTERS = 200_000;

/** `read_file`: lines of a text in whatever charset, a document as text, or an image's type and size. */
export function readFile({ roots, converter, maxBytes }: ReadFileOptions): Tool {
  return defineTool(
    tools.readFile,
    async (
      { path: text, offset = 1, limit = LINES, keep = false },
      { caller, signal, files },
    ): Promise<ToolResult<ToolReadFileOutput>> => {
      const workspace = new Workspace(roots, caller);
      const path = workspace.path(text);
      const { folder, name } = await workspace.openFolderOf(path);
      await using _folder = folder;
      const bytes = await readBounded(await inWords(path, "a file", () => folder.file(name)), maxBytes, path.text);
      const part = { offset, limit, path: path.text, bytes: bytes.length };
      if (keep) {
        const kept = await leaveFile(files, basename(name), bytes);
        return {
          content: `Kept ${path.text} as ${kept.handle}: ${kept.type}, ${kept.size} bytes.`,
          structured: { path: path.text, kind: "bytes", bytes: bytes.length, files: [kept] },
          trust: fromWorkspace(path.text),
        };
      }
      const document = documentKind(bytes, basename(name));
      if (document !== undefined) {
        const { markdown } = await ofDocument(path.text, () => converter.convertDocument(document, bytes, { signal }));
        return linesOf(markdown, document, part);
      }
      const kind = kindByBytes(bytes, undefined);
      if (kind.kind === "unreadable" && kind.what === "an image") {
        const { type, width, height } = await ofDocument(path.text, () => converter.imageFacts(bytes, { signal }));
        return {
          content: `${path.text} is an image: ${type}, ${width} × ${height} pixels, ${bytes.length} bytes. What it shows cannot be read here.`,
          structured: {
            path: path.text,
            kind: "image",
            bytes: bytes.length,
            media_type: `image/${type}`,
            width,
            height,
          },
        };
      }
      const decoded = kind.kind === "unreadable" ? undefined : decodeText(bytes, undefined);
      if (decoded === undefined)
        throw unreadable(
          path.text,
          bytes.length,
          kind.kind === "unreadable" ? kind.what : "no text in any charset that is known",
        );
      return linesOf(decoded, "text", part);
    },
  );
}

interface Part {
  readonly path: string;
  readonly bytes: number;
  readonly offset: number;
  readonly limit: number;
}

function linesOf(
  text: string,
  kind: "text" | "docx" | "pdf",
  { path, bytes, offset, limit }: Part,
): ToolResult<ToolReadFileOutput> {
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const from = offset - 1;
  let to = from;
  let length = 0;
  for (; to < lines.length && to < from + limit; to++) {
    length += (lines[to] as string).length + 1;
    if (length > MOST_CHARACTERS && to > from) break;
  }
  const shownLines = lines.slice(from, to).join("\n").slice(0, MOST_CHARACTERS);
  const isWhole = from === 0 && to === lines.length;
  const where = to > from ? `lines ${offset} to ${to} of ${lines.length}` : `no line: it has ${lines.length}`;
  const note =
    lines.length === 0
      ? "(The file is empty.)"
      : isWhole
        ? ""
        : `\n\n(${path}: ${where}.${to < lines.length ? ` Go on with offset ${to + 1}.` : ""})`;
  return {
    content: visibleText(shownLines) + note,
    structured: {
      path,
      kind,
      bytes,
      first_line: to > from ? offset : 0,
      last_line: to > from ? to : 0,
      lines: lines.length,
    },
    trust: fromWorkspace(path),
  };
}

async function ofDocument<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PageConversionError)) throw error;
    throw new ToolError(ToolErrorCode.ExecutionFailed, `Cannot read ${shown(path)}: ${error.message}.`, {
      cause: error,
    });
  }
}

const unreadable = (path: string, bytes: number, what: string): ToolError =>
  new ToolError(ToolErrorCode.ExecutionFailed, `Cannot read ${shown(path)} as text: it is ${what}, of ${bytes} bytes.`);
