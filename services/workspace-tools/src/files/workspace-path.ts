import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Root } from "./workspace-roots.ts";

/** The way to a file or folder: a root, and names from there on. */
export interface WorkspacePath {
  readonly root: Root;
  /** None for the root itself. */
  readonly names: readonly string[];
  /** All of it, the root's name first. */
  readonly text: string;
}

/** Names on the way at most. */
const MOST_NAMES = 64;
/** Bytes of a name that file systems take. */
const MOST_BYTES = 255;

/**
 * Reads a path as a model writes it. A path with a root's name first is one in that root; any other is one in the only
 * root there is.
 * @throws {ToolError} `invalid_arguments` or `denied`, for what leads out by its form
 */
export function workspacePath(text: string, roots: readonly Root[]): WorkspacePath {
  if (text.includes("\0"))
    throw refused(text, "it has a character NUL, which no name has", ToolErrorCode.InvalidArguments);
  if (text.startsWith("/")) throw refused(text, `it is absolute. Begin with the name of a root: ${namesOf(roots)}`);
  const parts = text.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw refused(text, 'it has a "..". Write the way from the root down');
  const [first] = parts;
  const named = roots.find(({ name }) => name === first);
  const root = named ?? (roots.length === 1 ? roots[0] : undefined);
  if (root === undefined) throw refused(text, `it does not begin with one of your roots, which are: ${namesOf(roots)}`);
  const names = named === undefined ? parts : parts.slice(1);
  if (names.length > MOST_NAMES)
    throw refused(text, `it has more than ${MOST_NAMES} names`, ToolErrorCode.InvalidArguments);
  const long = names.find((name) => Buffer.byteLength(name) > MOST_BYTES);
  if (long !== undefined)
    throw refused(text, `a name in it has more than ${MOST_BYTES} bytes`, ToolErrorCode.InvalidArguments);
  if (!text.isWellFormed()) throw refused(text, "a character in it is half of one", ToolErrorCode.InvalidArguments);
  return { root, names, text: [root.name, ...names].join("/") };
}

const namesOf = (roots: readonly Root[]): string => roots.map(({ name }) => name).join(", ");

/** A path as words of an error: short, and on one line. */
export const shown = (path: string): string => JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);

/** A path in a list with a line for each: a line break in a name would make it look like several. */
export const onOneLine = (path: string): string => path.replaceAll("\n", "\\n").replaceAll("\r", "\\r");

const refused = (path: string, reason: string, code: ToolErrorCode = ToolErrorCode.Denied): ToolError =>
  new ToolError(
    code,
    `Cannot open ${shown(path)}: ${reason}.`,
    code === ToolErrorCode.Denied ? { details: { reason: "path" } } : {},
  );
