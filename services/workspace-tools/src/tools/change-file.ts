import { ToolError, ToolErrorCode, type ToolWriteFileOutput } from "@rockbot/contracts";
import type { ToolResult } from "@rockbot/tools";
import { type StructuredPatchHunk, structuredPatch } from "diff";
import type { FileState } from "../files/folder.ts";
import { readBounded } from "../files/read-bounded.ts";
import { checkWritable, inWords, type Workspace } from "../files/workspace.ts";
import { shown, type WorkspacePath } from "../files/workspace-path.ts";
import { fromWorkspace } from "./from-workspace.ts";

/** Makes the new content of a file from the one that it has; undefined if there is no such file. */
export type Change = (before: Buffer | undefined) => Buffer;

export interface ChangeOptions {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  /** True to make missing folders. */
  readonly isMade: boolean;
}

/** How often a change is made again of what another process has written meanwhile. */
const ATTEMPTS = 3;

/** Changes a file as a whole, or not at all, and tells what has changed. @throws {ToolError} in words */
export async function changeFile(
  workspace: Workspace,
  path: WorkspacePath,
  change: Change,
  options: ChangeOptions,
): Promise<ToolResult<ToolWriteFileOutput>> {
  checkWritable(path);
  using _change = await workspace.changes.acquire(options.signal);
  const { folder, name } = await workspace.openFolderOf(path, options);
  await using _folder = folder;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const state = await inWords(path, "a file", () => folder.stateOf(name));
    const before = state === undefined ? undefined : await contentOf(state);
    const after = change(before);
    if (after.length > options.maxBytes) throw tooLarge(path.text, after.length, options.maxBytes);
    if (await inWords(path, "a file", () => folder.replace(name, after, state)))
      return described(path.text, before, after);
  }
  throw new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot write ${shown(path.text)}: others change it all the time. Nothing was written. Try again.`,
  );

  async function contentOf({ size }: FileState): Promise<Buffer> {
    if (size > options.maxBytes) throw tooLarge(path.text, size, options.maxBytes);
    return await readBounded(await inWords(path, "a file", () => folder.file(name)), options.maxBytes, path.text);
  }
}

/** Lines that differ, beyond which two texts are not compared. */
const MOST_DIFFERENCES = 2_000;
const COMPARE_MS = 200;
const SHOWN_CHARACTERS = 4_000;

function described(path: string, before: Buffer | undefined, after: Buffer): ToolResult<ToolWriteFileOutput> {
  const bytes = after.length;
  const created = before === undefined;
  if (before?.equals(after)) {
    return {
      content: `${path} is as it was: it had this text already.`,
      structured: { path, created, added: 0, removed: 0, bytes },
    };
  }
  const old = before === undefined ? "" : textOf(before);
  const patch =
    old === undefined
      ? undefined
      : structuredPatch(path, path, old, after.toString(), undefined, undefined, {
          context: 2,
          maxEditLength: MOST_DIFFERENCES,
          timeout: COMPARE_MS,
        });
  if (old === undefined || patch === undefined) {
    const words = old === undefined ? "was no text before" : "has changed in too many places to compare";
    const content = created ? `Made ${path}: ${bytes} bytes.` : `Wrote ${path}: ${bytes} bytes. It ${words}.`;
    return { content, structured: { path, created, added: null, removed: null, bytes } };
  }
  const changed = patch.hunks.flatMap(({ lines }) => lines);
  const added = changed.filter((line) => line.startsWith("+")).length;
  const removed = changed.filter((line) => line.startsWith("-")).length;
  const structured = { path, created, added, removed, bytes };
  if (created)
    return { content: `Made ${path}: ${added} ${added === 1 ? "line" : "lines"}, ${bytes} bytes.`, structured };
  const hunks = patch.hunks.map((hunk) => [headOf(hunk), ...hunk.lines].join("\n")).join("\n");
  const shownHunks =
    hunks.length > SHOWN_CHARACTERS ? `${hunks.slice(0, SHOWN_CHARACTERS)}\n… (the rest is left out)` : hunks;
  return {
    content: `Wrote ${path}: ${added} lines added, ${removed} removed.\n\n${shownHunks}`,
    structured,
    trust: fromWorkspace(path),
  };
}

/**
 * Where a hunk stands in both texts, and how many lines of each it has. One without lines stands behind the line that
 * is named.
 */
function headOf({ oldStart, oldLines, newStart, newLines }: StructuredPatchHunk): string {
  const range = (start: number, lines: number): string => `${lines === 0 ? start - 1 : start},${lines}`;
  return `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`;
}

/** Half of a character has no bytes in UTF-8: something else would be written in its place. @throws {ToolError} */
export function checkWellFormed(texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts))
    if (!text.isWellFormed())
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        `Nothing was written: ${name} has half of a character (a lone surrogate).`,
      );
}

/** The text of bytes that are UTF-8. */
export function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const tooLarge = (path: string, bytes: number, maxBytes: number): ToolError =>
  new ToolError(
    ToolErrorCode.TooLarge,
    `Cannot write ${shown(path)}: it has ${bytes} bytes, and a file may have ${maxBytes}. Nothing was written.`,
  );
