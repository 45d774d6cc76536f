import { randomBytes } from "node:crypto";
import { ToolError, ToolErrorCode, visibleText } from "@rockbot/contracts";

/** The facts of a file that everybody may read who may read the file. */
export interface FileFacts {
  /** The last part of a path, as `checkFileName` lets it through. */
  readonly name: string;
  /** One of our own list. */
  readonly type: string;
  /** Its length in bytes. */
  readonly size: number;
  /** True if strangers wrote it, or it was made of what they wrote. No caller can take that off. */
  readonly isUntrusted: boolean;
}

/** A file that a caller has. */
export interface FileInfo extends FileFacts {
  readonly handle: string;
  /** The end of its life, in Unix milliseconds. */
  readonly expiresAt: number;
}

/** A file as answers of tools have it. */
export const shownFile = ({ handle, name, type, size, isUntrusted }: FileInfo) => ({
  handle,
  name,
  type,
  size,
  isUntrusted,
});

/** A file has at most so many bytes, where its caller may have as many. */
export const MAX_FILE_BYTES = 128 * 1024 ** 2;
/** A file is kept for so long. */
export const FILE_TTL_MS = 24 * 3_600_000;
/** A call may name so many files. */
export const MAX_FILES_PER_CALL = 16;
const MAX_NAME_BYTES = 255;

/** The pattern of handles. An argument whose schema has it names a file. */
export const HANDLE_PATTERN = "^file_[0-9a-f]{32}$";

/** A handle as a whole text in JSON. */
const HANDLE = /(?<!\\)"(file_[0-9a-f]{32})"/g;

/** A new handle: it names a file to those who call for its caller, and says nothing to anybody else. */
export const newHandle = (): string => `file_${randomBytes(16).toString("hex")}`;

/** True if a text is a handle. */
export const isHandle = (text: string): boolean => new RegExp(HANDLE_PATTERN).test(text);

/** The handles among the texts of a JSON, each once. One in the midst of other words names no file. */
export const handlesIn = (json: string): readonly string[] =>
  json.includes("file_") ? [...new Set([...json.matchAll(HANDLE)].map(([, handle]) => handle as string))] : [];

/** Says why a name cannot be a file's; undefined if it can. */
function nameFault(name: string): string | undefined {
  if (name === "" || name === "." || name === "..") return "it is no name";
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `it has more than ${MAX_NAME_BYTES} bytes`;
  if (/[/\\]/.test(name)) return "it has a slash";
  if (/\p{Cc}/u.test(name) || visibleText(name) !== name || !name.isWellFormed())
    return "it has characters that nobody sees";
  return undefined;
}

/**
 * A name that a file may have, as near as possible to a stranger's text.
 * @param otherwise the beginning of the name if the text cannot be one
 */
export function nearestFileName(text: string, otherwise: string): string {
  const name = visibleText(text)
    .replaceAll(/[/\\\p{Cc}]/gu, "_")
    .trim();
  if (nameFault(name) === undefined) return name;
  const ending = /\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0] ?? "";
  return `${otherwise}${ending}`;
}

/** The last part of an address, as the name of what lies there. */
export function fileNameOfUrl({ pathname }: Pick<URL, "pathname">, otherwise: string): string {
  const part = pathname.slice(pathname.lastIndexOf("/") + 1);
  try {
    return nearestFileName(decodeURIComponent(part), otherwise);
  } catch {
    return nearestFileName(part, otherwise); // no UTF-8
  }
}

/** @throws {ToolError} that says what a name may not be */
export function checkFileName(name: string): string {
  const fault = nameFault(name);
  if (fault === undefined) return name;
  const shown = JSON.stringify(name.slice(0, 80));
  throw new ToolError(
    ToolErrorCode.InvalidArguments,
    `Cannot name a file ${shown}: ${fault}. Expected a name of 1 to ${MAX_NAME_BYTES} bytes, without folders, such as "data.csv"`,
    { details: { reason: "file_name" } },
  );
}

/** Types by ending: those that no browser runs. All else is bytes. */
const TYPES: Readonly<Record<string, string>> = {
  txt: "text/plain",
  log: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  json: "application/json",
  ics: "text/calendar",
  pdf: "application/pdf",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  zip: "application/zip",
  gz: "application/gzip",
  parquet: "application/vnd.apache.parquet",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  mp4: "video/mp4",
};
const KNOWN: ReadonlySet<string> = new Set(Object.values(TYPES));
/** The type of a file of which nothing better is known. */
const BYTES_TYPE = "application/octet-stream";

/**
 * The type of a file: the declared one if it is of our list, else that of the name's ending. HTML, SVG and scripts are
 * bytes: nothing that a stranger wrote is ever served as a page.
 */
export function fileType(name: string, declared?: string): string {
  const bare = declared?.split(";", 1)[0]?.trim().toLowerCase();
  if (bare !== undefined && KNOWN.has(bare)) return bare;
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return Object.hasOwn(TYPES, ending) ? (TYPES[ending] as string) : BYTES_TYPE;
}

/** True for types whose files are text. */
export const isTextType = (type: string): boolean => type.startsWith("text/") || type === "application/json";
