import { isRecord } from "@rockbot/base";
import { parseJson } from "@rockbot/contracts";
import type { PublicResponse } from "./public-fetch.ts";

/**
 * The JSON object that an answer is; undefined if it is none, or is a redirect, whose body is not read.
 * @throws {ToolError} as `body`
 */
export async function jsonBody(
  response: Pick<PublicResponse, "status" | "body">,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (response.status >= 300 && response.status < 400) return undefined;
  const body = parseJson(new TextDecoder().decode((await response.body()).bytes));
  return body.ok && isRecord(body.value) ? body.value : undefined;
}

/**
 * The JSON object by which a service says what went wrong; undefined also if it cannot be read: the status says enough.
 */
export const errorBody = (
  response: Pick<PublicResponse, "status" | "body">,
): Promise<Readonly<Record<string, unknown>> | undefined> => jsonBody(response).catch(() => undefined);
