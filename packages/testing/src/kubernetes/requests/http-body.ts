import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiFailure, badRequest } from "../store/api-failure.ts";

export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** @throws {ApiFailure} 400 or 413 */
export async function readBody(message: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES)
      throw new ApiFailure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${MAX_BODY_BYTES}`);
    chunks.push(chunk);
  }
  if (bytes === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch {
    throw badRequest("the object provided is unrecognized: json parse error");
  }
}

export function sendJson(response: ServerResponse, code: number, body: object): void {
  response
    .writeHead(code, { "content-type": "application/json", "cache-control": "no-cache, private" })
    .end(JSON.stringify(body));
}

export const asFailure = (error: unknown): ApiFailure =>
  error instanceof ApiFailure
    ? error
    : new ApiFailure(500, "InternalError", error instanceof Error ? error.message : String(error));

/** Ends the connection where the answer has begun. */
export function sendFailure(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const failure = asFailure(error);
  if (failure.retryAfterSeconds !== undefined) response.setHeader("retry-after", String(failure.retryAfterSeconds));
  sendJson(response, failure.code, failure.status);
}
