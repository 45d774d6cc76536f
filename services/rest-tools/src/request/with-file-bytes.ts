import { isRecord } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { handlesIn, isHandle } from "@rockbot/records/files";
import { filesOf, type ToolCallContext, takesFiles } from "@rockbot/tools";

type Arguments = Readonly<Record<string, unknown>>;

/** The bytes of all files of one request; base64 and the form take as much again. */
const MAX_BYTES = 18_000_000;

/**
 * Puts the bytes of files in the place of their handles: in files of a form, and where bytes are the body.
 * @throws {ToolError} if the caller has no such file, or they are too large together
 */
export async function withFileBytes(
  input: Arguments,
  inputSchema: object,
  context: Pick<ToolCallContext, "files">,
): Promise<Arguments> {
  if (handlesIn(JSON.stringify(input)).length === 0 || !takesFiles(JSON.stringify(inputSchema))) return input;
  let room = MAX_BYTES;
  const read = async (handle: string) => {
    const { facts, read } = await filesOf(context).open(handle);
    room -= facts.size;
    if (room < 0)
      throw new ToolError(ToolErrorCode.TooLarge, `Nothing was sent: its files have more than ${MAX_BYTES} bytes.`);
    const parts: Buffer[] = [];
    for await (const part of read()) parts.push(part);
    return { facts, base64: Buffer.concat(parts).toString("base64") };
  };
  const filled = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return inTurn(value, filled);
    if (!isRecord(value)) return value;
    const { file, ...rest } = value;
    if (typeof file === "string" && isHandle(file)) {
      const { facts, base64 } = await read(file);
      return { filename: facts.name, contentType: facts.type, ...rest, base64 };
    }
    const values = await inTurn(Object.values(value), filled);
    return Object.fromEntries(Object.keys(value).map((key, index) => [key, values[index]]));
  };
  const top = await inTurn(Object.values(input), async (value) =>
    typeof value === "string" && isHandle(value) ? (await read(value)).base64 : filled(value),
  );
  return Object.fromEntries(Object.keys(input).map((key, index) => [key, top[index]]));
}

async function inTurn(values: readonly unknown[], each: (value: unknown) => Promise<unknown>): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const value of values) results.push(await each(value));
  return results;
}
