import { type ToolListFilesOutput, tools, visibleText } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { EntryError, type Folder } from "../files/folder.ts";
import { inWords, Workspace } from "../files/workspace.ts";
import { onOneLine } from "../files/workspace-path.ts";
import type { WorkspaceRoots } from "../files/workspace-roots.ts";
import { fromWorkspace } from "./from-workspace.ts";

/** Entries of an answer. */
const MOST = 1_000;
/** Entries of one folder that are looked at. */
const MOST_OF_FOLDER = 10_000;

type Listed = ToolListFilesOutput["entries"][number];

/** `list_files`: what lies in a folder, and in those below it. */
export function listFiles({ roots }: { readonly roots: WorkspaceRoots }): Tool {
  return defineTool(tools.listFiles, async ({ path: text = "", depth = 1 }, { caller, signal }) => {
    const workspace = new Workspace(roots, caller);
    if (text.split("/").every((part) => part === "" || part === ".") && !text.startsWith("/"))
      return ofRoots(workspace);
    const path = workspace.path(text);
    const entries: Listed[] = [];
    let isCut = false;
    await using folder = await workspace.openFolder(path);
    await inWords(path, "a folder", () => list(folder, path.text, depth));
    const lines = entries.map(({ path: entry, type, bytes }) => visibleText(lineOf(onOneLine(entry), type, bytes)));
    const content = [
      ...(lines.length === 0 ? ["(The folder is empty.)"] : lines),
      ...(isCut ? [`(There are more than these ${MOST}: list a folder of them.)`] : []),
    ];
    return { content: content.join("\n"), structured: { entries, is_cut: isCut }, trust: fromWorkspace(path.text) };

    async function list(outer: Folder, at: string, levels: number): Promise<void> {
      const found = await outer.entries(MOST_OF_FOLDER);
      if (found.length === MOST_OF_FOLDER) isCut = true;
      for (const { name, kind, bytes } of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        signal.throwIfAborted();
        if (entries.length === MOST) isCut = true;
        if (entries.length === MOST) return;
        const entry = `${at}/${name}`;
        entries.push({ path: entry, type: kind === "mount" ? "other" : kind, bytes });
        if (kind === "folder" && levels > 1) await inner(outer, name, (folder) => list(folder, entry, levels - 1));
      }
    }
  });
}

/** Goes into a folder, unless it is gone, closed to the service, or something else by now. */
async function inner(outer: Folder, name: string, work: (folder: Folder) => Promise<void>): Promise<void> {
  const opened = await outer.folder(name).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof EntryError || error.code === "EACCES") return undefined;
    throw error;
  });
  if (opened === undefined) return;
  await using folder = opened;
  await work(folder);
}

function ofRoots({ roots }: Workspace) {
  const words = roots.map(({ name, isWritable }) => `${name}/${isWritable ? "" : "  (for reading only)"}`);
  const entries = roots.map(({ name }): Listed => ({ path: name, type: "folder", bytes: null }));
  return { content: words.join("\n"), structured: { entries, is_cut: false } };
}

function lineOf(path: string, type: Listed["type"], bytes: number | null): string {
  if (type === "folder") return `${path}/`;
  if (type === "file") return `${path}  ${bytes ?? "?"} bytes`;
  return type === "link" ? `${path}  (a symlink, which is not followed)` : `${path}  (a device, a FIFO or a socket)`;
}
