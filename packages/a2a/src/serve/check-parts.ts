import { isRecord } from "@rockbot/base";
import { base64Bytes, ToolError, ToolErrorCode } from "@rockbot/contracts";

/**
 * Refuses parts that the SDK fails at or misreads: one that is no object, and a file in wrong base64.
 * @param body of a request of any binding and version
 * @throws {ToolError} in words for the client
 */
export function checkParts(body: Readonly<Record<string, unknown>>): void {
  const { message } = isRecord(body["params"]) ? body["params"] : body;
  const lists: unknown[] = isRecord(message) ? [message["parts"], message["content"]] : [];
  for (const [i, part] of lists.flatMap((parts) => (Array.isArray(parts) ? [...parts.entries()] : []))) {
    if (!isRecord(part)) throw refused(`message.parts.${i}: expected an object`);
    const file = isRecord(part["file"]) ? part["file"] : {};
    for (const bytes of [part["raw"], file["bytes"], file["fileWithBytes"], file["file_with_bytes"]])
      if (typeof bytes === "string" && base64Bytes(bytes) === undefined)
        throw refused(`message.parts.${i}: expected the bytes of a file in base64`);
  }
}

const refused = (fault: string): ToolError =>
  new ToolError(ToolErrorCode.InvalidArguments, `Cannot read the request: ${fault}`);
