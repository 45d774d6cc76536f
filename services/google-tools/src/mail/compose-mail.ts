import MailComposer from "nodemailer/lib/mail-composer";

/** A mail to send. */
export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly subject: string;
  readonly text: string;
  readonly attached: readonly Attached[];
  /** The mail that it answers, by its `Message-ID`, and the ones before that. */
  readonly answers?: { readonly messageId: string; readonly references: string } | undefined;
}

/** A file that goes out with a mail. */
export interface Attached {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Buffer;
}

/** The mail as an RFC 5322 text with CRLF. No value leaves its header, as line breaks in one become spaces. */
export async function composeMail({ from, to, cc, bcc, subject, text, attached, answers }: Mail): Promise<Buffer> {
  const composer = new MailComposer({
    from,
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    subject: oneLine(subject),
    text,
    attachments: [...attached],
    ...(answers === undefined
      ? {}
      : { inReplyTo: oneLine(answers.messageId), references: oneLine(answers.references) }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const message = composer.compile();
  // Gmail reads the receivers of blind copies from the header, and takes it off.
  message.keepBcc = true;
  return await message.build();
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n\0]+/g, " ");
