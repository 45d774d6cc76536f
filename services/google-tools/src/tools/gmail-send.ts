import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, filesOf, type Tool } from "@rockbot/tools";
import addressparser from "nodemailer/lib/addressparser";
import type { AccountApi, GoogleApi } from "../api/google-api.ts";
import { attachedFiles } from "../mail/attachment-files.ts";
import { composeMail, type Mail } from "../mail/compose-mail.ts";
import { mailPart } from "../mail/mail-parts.ts";
import { headerOf } from "../mail/mail-summary.ts";
import { MESSAGES } from "./gmail-search.ts";

/** `gmail_send`: sends a mail, or answers one in its thread. */
export function gmailSend(api: GoogleApi): Tool {
  return defineTool(
    tools.gmailSend,
    async ({ to = [], cc = [], bcc = [], subject, body, reply_to_message_id, attachments = [] }, context) => {
      const { caller, signal } = context;
      const faults = [
        ...(reply_to_message_id === undefined && to.length === 0
          ? ["to is needed unless reply_to_message_id is given"]
          : []),
        ...(reply_to_message_id === undefined && subject === undefined
          ? ["subject is needed unless reply_to_message_id is given"]
          : []),
        ...(subject !== undefined && /[\r\n\0]/.test(subject) ? ["subject has to be one line"] : []),
      ];
      if (faults.length > 0)
        throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot send the mail: ${faults.join("; ")}.`);
      const gmail = await api.of(caller, "gmail");
      const answered =
        reply_to_message_id === undefined ? undefined : await answeredMail(gmail, reply_to_message_id, signal);
      const receivers = to.length > 0 ? to : (answered?.sender ?? []);
      const mail: Mail = {
        from: gmail.account,
        to: receivers,
        cc,
        bcc,
        subject: subject ?? answered?.subject ?? "",
        text: body,
        attached: attachments.length === 0 ? [] : await attachedFiles(filesOf(context), attachments),
        answers: answered?.answers,
      };
      const raw = (await composeMail(mail)).toString("base64url");
      const request = { raw, ...(answered === undefined ? {} : { threadId: answered.threadId }) };
      const { id, threadId } = await gmail.ask([...MESSAGES, "send"], { body: request, signal, what: "send the mail" });
      const structured = { account: gmail.account, id: String(id ?? ""), thread_id: String(threadId ?? "") };
      return {
        content: `Sent from ${gmail.account} to ${[...receivers, ...cc, ...bcc].join(", ")}: id ${structured.id}`,
        structured,
      };
    },
  );
}

interface Answered extends Pick<Mail, "answers" | "subject"> {
  readonly threadId: string;
  readonly sender: readonly string[];
}

const HEADERS = ["Message-ID", "References", "Subject", "From", "Reply-To"];

/**
 * What an answer takes from the mail that it answers: RFC 5322, 3.6.4.
 * @throws {ToolError} `invalid_arguments` if it has no one to answer
 */
async function answeredMail(gmail: AccountApi, id: string, signal: AbortSignal): Promise<Answered> {
  const mail = await gmail.ask([...MESSAGES, id], {
    query: { format: "metadata", metadataHeaders: HEADERS },
    signal,
    what: "read the mail to answer",
  });
  const part = mailPart(mail["payload"]);
  const [messageId] = idsIn(headerOf(part, "message-id"));
  const sender = addressIn(headerOf(part, "reply-to") || headerOf(part, "from"));
  if (sender === undefined || messageId === undefined) {
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      "Cannot answer the mail: it names no sender, or has no Message-ID. Send a mail of its own.",
    );
  }
  const subject = headerOf(part, "subject");
  return {
    threadId: String(mail["threadId"] ?? ""),
    sender: [sender],
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`.trim(),
    answers: {
      messageId,
      references: [...idsIn(headerOf(part, "references")).slice(-MAX_REFERENCES), messageId].join(" "),
    },
  };
}

/** As many as a thread needs: the header may not grow with each answer. */
const MAX_REFERENCES = 50;

const idsIn = (header: string): readonly string[] => header.match(/<[^<>\s]{1,500}>/g) ?? [];

/** The first address of a header, without a name. */
const addressIn = (header: string): string | undefined =>
  addressparser(header, { flatten: true }).find(({ address }) => address.includes("@"))?.address;
