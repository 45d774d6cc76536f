import { ToolError, ToolErrorCode, visibleText } from "@rockbot/contracts";
import { nameFault, shownFile } from "@rockbot/records/files";
import type { ToolCallContext } from "@rockbot/tools";
import type { Attached } from "./compose-mail.ts";
import type { MailPart } from "./mail-parts.ts";

type Files = NonNullable<ToolCallContext["files"]>;

/** What Gmail takes in one mail is less: base64 makes three bytes four. */
const MAX_ATTACHED_BYTES = 18_000_000;
/** Attachments of one mail that are kept. */
const MOST_KEPT = 32;

/** The call's files. @throws {ToolError} where there is no store of files */
export function filesOf({ files }: Pick<ToolCallContext, "files">): Files {
  if (files !== undefined) return files;
  throw new ToolError(
    ToolErrorCode.Denied,
    "Attachments cannot be kept or sent here: this service has no store of files. Do without them.",
    { details: { reason: "no_files" } },
  );
}

/**
 * Keeps the attachments of a mail as untrusted files.
 * @param read fetches the bytes of a part
 * @throws {ToolError} if one cannot be fetched, or finds no room
 */
export async function keepAttachments(
  files: Files,
  attachments: readonly MailPart[],
  read: (part: MailPart) => Promise<Buffer>,
) {
  const kept: ReturnType<typeof shownFile>[] = [];
  for (const [index, part] of attachments.slice(0, MOST_KEPT).entries()) {
    const name = fileNameOf(part.filename, `attachment-${index + 1}`);
    const file = { name, type: part.type, isUntrusted: true, bytes: [await read(part)] };
    kept.push(shownFile(await files.leave(file)));
  }
  return kept;
}

/**
 * Reads the files that go out with a mail.
 * @throws {ToolError} if the caller has one of them not, or they are too large together
 */
export async function attachedFiles(files: Files, handles: readonly string[]): Promise<readonly Attached[]> {
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

/** A name that a file may have, as near as possible to the one that the sender gave. */
function fileNameOf(text: string, otherwise: string): string {
  const name = visibleText(text)
    .replaceAll(/[/\\\p{Cc}]/gu, "_")
    .trim();
  if (nameFault(name) === undefined) return name;
  const ending = /\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0] ?? "";
  return `${otherwise}${ending}`;
}
