import { fence, saidBy, ToolError, ToolErrorCode, tools, visibleText } from "@rockbot/contracts";
import { decodeText, PageConversionError, type PageConverter } from "@rockbot/page";
import { defineTool, filesOf, type Tool } from "@rockbot/tools";
import type { AccountApi, GoogleApi } from "../api/google-api.ts";
import { keepAttachments } from "../mail/attachment-files.ts";
import { type MailPart, type MailText, mailContents, mailPart } from "../mail/mail-parts.ts";
import { headerOf, mailSummary } from "../mail/mail-summary.ts";
import { MESSAGES } from "./gmail-search.ts";

export interface GmailReadOptions {
  readonly api: GoogleApi;
  readonly converter: PageConverter;
}

/** A mail's links are whole; a relative one leads nowhere. */
const BASE_URL = "https://mail.invalid/";
/** More text is no use to a model. */
const MAX_TEXT_BYTES = 8_000_000;

/** `gmail_read`: one mail as markdown, with its attachments by name. */
export function gmailRead({ api, converter }: GmailReadOptions): Tool {
  return defineTool(tools.gmailRead, async ({ message_id, raw_html = false, keep_attachments = false }, context) => {
    const { caller, signal, progress } = context;
    const files = keep_attachments ? filesOf(context) : undefined;
    const gmail = await api.of(caller, "gmail");
    progress({ message: "Reading the mail" });
    const mail = await gmail.ask([...MESSAGES, message_id], {
      query: { format: "full" },
      signal,
      what: "read the mail",
    });
    const part = mailPart(mail["payload"]);
    const contents = mailContents(part);
    const body = await bodyOf(contents.texts, {
      raw_html,
      converter,
      signal,
      read: (id) => bodyOfAttachment(gmail, message_id, id, signal),
    });
    const bytesOf = async ({ data, attachmentId }: MailPart): Promise<Buffer> =>
      Buffer.from(
        data ?? (attachmentId === undefined ? "" : await bodyOfAttachment(gmail, message_id, attachmentId, signal)),
        "base64url",
      );
    const { snippet: _, ...summary } = mailSummary(mail, part);
    const attachments = contents.attachments.map(({ filename, type, bytes }) => ({
      name: visibleText(filename),
      type,
      bytes,
    }));
    const structured = {
      account: gmail.account,
      ...summary,
      cc: headerOf(part, "cc"),
      reply_to: headerOf(part, "reply-to"),
      format: body.format,
      attachments,
      ...(files === undefined ? {} : { files: await keepAttachments(files, contents.attachments, bytesOf) }),
    };
    return { content: contentOf(structured, body.text), structured, trust: saidBy(gmail.origin) };
  });
}

/** Gmail sends long bodies by a request of their own. */
async function bodyOfAttachment(
  gmail: AccountApi,
  messageId: string,
  id: string,
  signal: AbortSignal,
): Promise<string> {
  const { data } = await gmail.ask([...MESSAGES, messageId, "attachments", id], { signal, what: "read the mail" });
  return typeof data === "string" ? data : "";
}

interface Reading {
  readonly raw_html: boolean;
  readonly converter: PageConverter;
  readonly signal: AbortSignal;
  read(attachmentId: string): Promise<string>;
}

type Format = "markdown" | "html" | "text" | "none";

interface Body {
  readonly text: string;
  readonly format: Format;
  /** The bytes that were read for it. */
  readonly bytes: number;
}

async function bodyOf(texts: readonly MailText[], reading: Reading, before = 0): Promise<Body> {
  const read: Body[] = [];
  let bytes = before;
  for (const item of texts) {
    for (const version of "versions" in item ? item.versions : [item]) {
      const body = "type" in version ? await leafOf(version, reading, bytes) : await bodyOf(version, reading, bytes);
      bytes = body.bytes;
      read.push(body);
      if (body.text !== "") break; // a version without text, as an empty page beside the plain text, is not the one to read
    }
  }
  const filled = read.filter(({ text }) => text !== "");
  const format = filled.findLast(({ format }) => format !== "text")?.format ?? filled[0]?.format ?? "none";
  return { text: filled.map(({ text }) => text).join("\n\n"), format, bytes };
}

async function leafOf(part: MailPart, reading: Reading, before: number): Promise<Body> {
  const bytes = before + part.bytes;
  if (bytes > MAX_TEXT_BYTES) {
    throw new ToolError(
      ToolErrorCode.TooLarge,
      `Cannot read the mail: its text has ${bytes} bytes, and at most ${MAX_TEXT_BYTES} are read. Have a person look at it.`,
    );
  }
  const text = (await textOf(part, reading)).trim();
  if (part.type !== "text/html" || text === "") return { text: visibleText(text).trim(), format: "text", bytes };
  const markdown = await markdownOf(text, reading);
  return reading.raw_html
    ? { text: markdown === "" ? "" : visibleText(text).trim(), format: "html", bytes }
    : { text: markdown, format: "markdown", bytes };
}

async function textOf({ data, attachmentId, headers, type }: MailPart, { read }: Reading): Promise<string> {
  const encoded = data ?? (attachmentId === undefined ? "" : await read(attachmentId));
  const bytes = Buffer.from(encoded, "base64url");
  return decodeText(bytes, headers.get("content-type") ?? type) ?? new TextDecoder("windows-1252").decode(bytes);
}

async function markdownOf(html: string, { raw_html, converter, signal }: Reading): Promise<string> {
  try {
    return (await converter.convert(html, BASE_URL, { signal, isWhole: true })).markdown.trim();
  } catch (error) {
    if (!(error instanceof PageConversionError)) throw error;
    if (raw_html) return html; // what is no markdown may be read as it is
    const message = `Cannot turn the mail into markdown: ${error.message}. Set raw_html to read it as it was sent.`;
    throw new ToolError(ToolErrorCode.ExecutionFailed, message, { cause: error });
  }
}

interface Head {
  readonly from: string;
  readonly to: string;
  readonly cc: string;
  readonly subject: string;
  readonly date: string;
  readonly format: Format;
  readonly attachments: readonly { readonly name: string; readonly type: string; readonly bytes: number }[];
}

function contentOf({ from, to, cc, subject, date, format, attachments }: Head, text: string): string {
  const body = format === "html" ? fence(text, "html") : text || "(The mail has no text.)";
  const listed = attachments.map(({ name, type, bytes }) => `- ${name || "(no name)"}: ${type}, ${bytes} bytes`);
  return [
    `# ${subject || "(no subject)"}`,
    "",
    `From: ${from}`,
    `To: ${to}`,
    ...(cc === "" ? [] : [`Cc: ${cc}`]),
    `Date: ${date}`,
    "",
    body,
    ...(listed.length === 0 ? [] : ["", "## Attachments", "", ...listed]),
  ].join("\n");
}
