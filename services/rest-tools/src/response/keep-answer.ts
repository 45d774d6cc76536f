import { ToolError } from "@rockbot/contracts";
import { fileNameOfUrl, shownFile } from "@rockbot/records/files";
import type { CallFiles } from "@rockbot/tools";
import type { ResponseContent } from "./read-response.ts";

/** Leaves an answer that is no text as an untrusted file, and says so. Where it finds no room the answer says why. */
export async function keepAnswer(
  { bytes, mediaType, what }: Extract<ResponseContent, { kind: "bytes" }>,
  url: URL,
  files: CallFiles | undefined,
) {
  const facts = `The answer is ${what} of the type ${mediaType || "unknown"}, ${bytes.length} bytes`;
  if (files === undefined) return { content: `(${facts}, which are not shown.)` };
  try {
    const file = { name: fileNameOfUrl(url, "answer"), type: mediaType, isUntrusted: true, bytes: [bytes] };
    const kept = shownFile(await files.leave(file));
    return { content: `(${facts}: kept as ${kept.handle}.)`, structured: { files: [kept] } };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { content: `(${facts}, which are not shown. ${error.message})` }; // it may have had its effect
  }
}
