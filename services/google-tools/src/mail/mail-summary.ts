import { visibleText } from "@rockbot/contracts";
import { type MailPart, mailPart } from "./mail-parts.ts";

/** What is said of a mail in a list. */
export interface MailSummary {
  readonly id: string;
  readonly thread_id: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly date: string;
  readonly snippet: string;
  readonly labels: string[];
}

/** The headers that a summary reads. */
export const SUMMARY_HEADERS = ["From", "To", "Subject"];

/** A mail as Gmail gives it. */
export type GmailResource = Readonly<Record<string, unknown>>;

export function mailSummary(mail: GmailResource, part: MailPart = mailPart(mail["payload"])): MailSummary {
  const labels = Array.isArray(mail["labelIds"]) ? mail["labelIds"] : [];
  return {
    id: String(mail["id"] ?? ""),
    thread_id: String(mail["threadId"] ?? ""),
    from: headerOf(part, "from"),
    to: headerOf(part, "to"),
    subject: headerOf(part, "subject"),
    date: dateOf(mail["internalDate"]),
    // Gmail escapes it as for a page.
    snippet: line(
      String(mail["snippet"] ?? "").replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? ""),
    ),
    labels: labels.filter((label) => typeof label === "string"),
  };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** @param name in small letters @returns one line, "" if there is no such header */
export const headerOf = (part: MailPart, name: string): string => line(part.headers.get(name) ?? "");

const line = (text: string): string => visibleText(text).replaceAll(/\s+/g, " ").trim();

function dateOf(milliseconds: unknown): string {
  const date = new Date(Number(milliseconds));
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}
