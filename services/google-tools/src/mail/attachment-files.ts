import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { nearestFileName, shownFile } from "@rockbot/records/files";
import type { CallFiles } from "@rockbot/tools";
import type { Attached } from "./compose-mail.ts";
import type { MailPart } from "./mail-parts.ts";

/** What Gmail takes in one mail is less: base64 makes three bytes four. */
const MAX_ATTACHED_BYTES = 18_000_000;
/** Attachments of one mail that are kept. */
const MOST_KEPT = 32;

/**
 * Keeps the attachments of a mail as untrusted files.
 * @param read fetches the bytes of a part
 * @throws {ToolError} if one cannot be fetched, or finds no room
 */
export async function keepAttachments(
  files: CallFiles,
  attachments: readonly MailPart[],
  read: (part: MailPart) => Promise<Buffer>,
) {
  const kept: ReturnType<typeof shownFile>[] = [];
  for (const [index, part] of attachments.slice(0, MOST_KEPT).entries()) {
    const name = nearestFileName(part.filename, `attachment-${index + 1}`);
    const file = { name, type: part.type, isUntrusted: true, bytes: [await read(part)] };
    kept.push(shownFile(await files.leave(file)));
  }
  return kept;
}

/**
 * Reads the files that go out with a mail.
 * @throws {ToolError} if the caller has one of them not, or they are too large together
 */
export async function attachedFiles(files: CallFiles, handles: readonly string[]): Promise<readonly Attached[]> {
  const opened = await Promise.all(handles.map((handle) => files.open(handle)));
  const bytes = opened.reduce((sum, { facts }) => sum + facts.size, 0);
  if (bytes > MAX_ATTACHED_BYTES)
    throw new ToolError(
      ToolErrorCode.TooLarge,
      `Cannot send the mail: its attachments have ${bytes} bytes, and a mail takes ${MAX_ATTACHED_BYTES}. Send fewer or smaller ones.`,
    );
  return Promise.all(
    opened.map(async ({ facts, read }) => {
      const parts: Buffer[] = [];
      for await (const part of read()) parts.push(part);
      return { filename: facts.name, contentType: facts.type, content: Buffer.concat(parts) };
    }),
  );
}
