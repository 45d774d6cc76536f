import { isRecord } from "@rockbot/base";

/** A part of a mail as Gmail gives it, or the mail itself. */
export interface MailPart {
  /** The type in small letters, without parameters. */
  readonly type: string;
  readonly filename: string;
  /** The headers by their names in small letters; the first of a name counts. */
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: number;
  /** The body as base64url, if it came along. */
  readonly data: string | undefined;
  /** By which the body is asked for, if it did not. */
  readonly attachmentId: string | undefined;
  readonly parts: readonly MailPart[];
}

/** A text of a mail, or versions of one: the first that has text is the one to read. */
export type MailText = MailPart | { readonly versions: readonly (readonly MailText[])[] };

/** What of a mail is text to read, and what is listed. */
export interface MailContents {
  readonly texts: readonly MailText[];
  readonly attachments: readonly MailPart[];
}

/** Mails with more levels or parts are made to harm: what is beyond is left out. */
const MAX_DEPTH = 50;
const MAX_PARTS = 1_000;

/** The tree of a mail. What is no part in it is left out. */
export function mailPart(value: unknown): MailPart {
  const budget = { parts: MAX_PARTS };
  return partOf(value, 0, budget);
}

function partOf(value: unknown, depth: number, budget: { parts: number }): MailPart {
  const part = isRecord(value) ? value : {};
  const body = isRecord(part["body"]) ? part["body"] : {};
  const children = Array.isArray(part["parts"]) && depth < MAX_DEPTH ? part["parts"] : [];
  const text = (from: Readonly<Record<string, unknown>>, name: string): string | undefined =>
    typeof from[name] === "string" ? from[name] : undefined;
  return {
    type: (text(part, "mimeType") ?? "").toLowerCase().split(";")[0]?.trim() ?? "",
    filename: text(part, "filename") ?? "",
    headers: headersOf(part["headers"]),
    bytes: typeof body["size"] === "number" ? body["size"] : 0,
    data: text(body, "data"),
    attachmentId: text(body, "attachmentId"),
    parts: children.flatMap((child) => (budget.parts-- > 0 ? [partOf(child, depth + 1, budget)] : [])),
  };
}

function headersOf(values: unknown): Map<string, string> {
  const headers = new Map<string, string>();
  for (const item of Array.isArray(values) ? values : []) {
    if (!isRecord(item) || typeof item["name"] !== "string" || typeof item["value"] !== "string") continue;
    const name = item["name"].toLowerCase();
    if (!headers.has(name)) headers.set(name, item["value"]);
  }
  return headers;
}

/**
 * The texts that a person reads: of alternatives the HTML before the plain text, and all of what stands one after
 * another.
 */
export function mailContents(part: MailPart): MailContents {
  const disposition = dispositionOf(part);
  // Mail programs show a named text in its place if it is `inline`; its name is listed all the same.
  const isShown = disposition === "inline" && part.type.startsWith("text/") && part.bytes <= MAX_INLINE_BYTES;
  if (isShown && part.filename !== "") return { texts: [part], attachments: [part] };
  if (part.filename !== "" || disposition === "attachment" || part.type === "message/rfc822")
    return { texts: [], attachments: [part] };
  if (part.type.startsWith("text/")) return { texts: [part], attachments: [] };
  if (!part.type.startsWith("multipart/") && part.parts.length === 0)
    return { texts: [], attachments: part.bytes > 0 ? [part] : [] };
  const children = part.parts.map(mailContents);
  const attachments = children.flatMap((child) => child.attachments);
  if (part.type !== "multipart/alternative") return { texts: children.flatMap(({ texts }) => texts), attachments };
  const versions = children.flatMap(({ texts }) => (texts.length > 0 ? [texts] : [])).sort((a, b) => rank(a) - rank(b));
  return { texts: versions.length === 0 ? [] : [{ versions }], attachments };
}

/** A longer text that has a name is a file. */
const MAX_INLINE_BYTES = 100_000;

const dispositionOf = ({ headers }: MailPart): string | undefined =>
  /^\s*(attachment|inline)\b/i.exec(headers.get("content-disposition") ?? "")?.[1]?.toLowerCase();

const has = (texts: readonly MailText[], type: string): boolean =>
  texts.some((text) => ("versions" in text ? text.versions.some((version) => has(version, type)) : text.type === type));
const rank = (texts: readonly MailText[]): number => (has(texts, "text/html") ? 0 : has(texts, "text/plain") ? 1 : 2);
