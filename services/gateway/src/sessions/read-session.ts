import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/**
 * The sequence behind which a stream goes on; undefined if the request does not say.
 * @param where the header, or the parameter, that says it
 * @throws {ToolError} if it is none
 */
export function readAfter(
  text: string | undefined,
  where: "the header Last-Event-ID" | "after in the query",
): number | undefined {
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ToolError(
    ToolErrorCode.InvalidArguments,
    `Cannot read ${where}: expected the id of an event of this stream, a whole number`,
  );
}
