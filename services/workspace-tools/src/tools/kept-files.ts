import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { shownFile } from "@rockbot/records/files";
import { filesOf, type ToolCallContext } from "@rockbot/tools";

type Files = ToolCallContext["files"];

/** The bytes of a file of the caller. @throws {ToolError} if it has none of that handle, or it is too large here */
export async function bytesOfFile(files: Files, handle: string, maxBytes: number): Promise<Buffer> {
  const { facts, read } = await filesOf({ files }).open(handle);
  if (facts.size > maxBytes)
    throw new ToolError(
      ToolErrorCode.TooLarge,
      `Nothing was written: "${facts.name}" has ${facts.size} bytes, and a file may have ${maxBytes}.`,
    );
  const parts: Buffer[] = [];
  for await (const part of read()) parts.push(part);
  return Buffer.concat(parts);
}

/** Leaves bytes of the workspace as a file of the caller. They may come from anybody. @throws {ToolError} */
export const leaveFile = async (files: Files, name: string, bytes: Buffer) =>
  shownFile(await filesOf({ files }).leave({ name, isUntrusted: true, bytes: [bytes] }));
