import { MAX_REQUEST_BYTES } from "@rockbot/contracts";

/** All of stdin, or as much of it as shows that it is too large for arguments. */
export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_REQUEST_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}
