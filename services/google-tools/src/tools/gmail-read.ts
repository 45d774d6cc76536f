import { fence, saidBy, ToolError, ToolErrorCode, tools, visibleText } from "@rockbot/contracts";
import { decodeText, PageConversionError, type PageConverter } from "@rockbot/page";
import { defineTool, type Tool } from "@rockbot/tools";
import type { AccountApi, GoogleApi } from "../api/google-api.ts";
import { type MailPart, mailContents, mailPart } from "../mail/mail-parts.ts";
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
  return defineTool(tools.gmailRead, async ({ message_id, raw_html = false }, { caller, signal, progress }) => {
    const gmail = await api.of(caller, "gmail");
    progress({ message: "Reading the mail" });
    const mail = await gmail.ask([...MESSAGES, message_id], { query: { format: "full" }, signal, what: "read the mail" });
    const part = mailPart(mail["payload"]);
    const contents = mailContents(part);
    const body = await bodyOf(contents.texts, { raw_html, converter, signal, read: (id) => bodyOfAttachment(gmail, message_id, id, signal) });
    const { snippet: _, ...summary } = mailSummary(mail, part);
    const attachments = contents.attachments.map(({ filename, type, bytes }) => ({ name: visibleText(filename), type, bytes }));
    const structured = { account: gmail.account, ...summary, cc: headerOf(part, "cc"), reply_to: headerOf(part, "reply-to"), format: body.format, attachments };
    return { content: contentOf(structured, body.text), structured, trust: saidBy(gmail.origin) };
  });
}

/** Gmail sends long bodies by a request of their own. */
async function bodyOfAttachment(gmail: AccountApi, messageId: string, id: string, signal: AbortSignal): Promise<string> {
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

async function bodyOf(parts: readonly MailPart[], reading: Reading): Promise<{ readonly text: string; readonly format: Format }> {
  const size = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  if (size > MAX_TEXT_BYTES) {
    throw new ToolError(
      ToolErrorCode.TooLarge,
      `Cannot read the mail: its text has ${size} bytes, and at most ${MAX_TEXT_BYTES} are read. Have a person look at it.`,
    );
  }
  const texts: string[] = [];
  let format: Format = "none";
  for (const part of parts) {
    const isHtml = part.type === "text/html";
    const text = await textOf(part, reading);
    if (text.trim() === "") continue;
    texts.push(isHtml && !reading.raw_html ? await markdownOf(text, reading) : visibleText(text).trim());
    if (isHtml) format = reading.raw_html ? "html" : "markdown";
    else if (format === "none") format = "text";
  }
  return { text: texts.join("\n\n"), format };
}

async function textOf({ data, attachmentId, headers, type }: MailPart, { read }: Reading): Promise<string> {
  const encoded = data ?? (attachmentId === undefined ? "" : await read(attachmentId));
  const bytes = Buffer.from(encoded, "base64url");
  return decodeText(bytes, headers.get("content-type") ?? type) ?? new TextDecoder("windows-1252").decode(bytes);
}

async function markdownOf(html: string, { converter, signal }: Reading): Promise<string> {
  try {
    return (await converter.convert(html, BASE_URL, { signal, isWhole: true })).markdown;
  } catch (error) {
    if (!(error instanceof PageConversionError)) throw error;
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
