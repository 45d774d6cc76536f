import { Readable } from "node:stream";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { BodyTooLargeError, readBounded } from "@rockbot/edge/body";
import { connectionError, statusError } from "./openrouter-error.ts";

export interface OpenRouterApiOptions {
  /** Such as https://openrouter.ai/api/v1. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The timeout of an answer with its body, in milliseconds. */
  readonly timeoutMs: number;
}

export interface OpenRouterApi {
  /**
   * Asks for a path below the base URL, such as `credits`, once.
   * @param what it is, for the words of an error: "the credits"
   * @returns the answer's JSON, written compactly
   * @throws {ToolError}
   */
  get(path: string, what: string, signal: AbortSignal): Promise<string>;
}

/** The list of models is the largest answer there is, at about 1 MiB. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** The reading part of the OpenRouter API. The key goes to the base URL and nowhere else: no redirect is followed. */
export function createOpenRouterApi({ baseUrl, apiKey, timeoutMs }: OpenRouterApiOptions): OpenRouterApi {
  const base = `${baseUrl.replace(/\/+$/, "")}/`;
  const headers = { authorization: `Bearer ${apiKey}`, accept: "application/json", "user-agent": "rockbot" };
  return {
    async get(path, what, signal) {
      const deadline = AbortSignal.timeout(timeoutMs);
      let status: number;
      let retryAfter: string | undefined;
      let text: string;
      try {
        const response = await fetch(base + path, {
          headers,
          redirect: "manual",
          signal: AbortSignal.any([signal, deadline]),
        });
        status = response.status;
        retryAfter = response.headers.get("retry-after") ?? undefined;
        text = (await readBounded(response.body ?? Readable.from([]), MAX_ANSWER_BYTES)).toString();
      } catch (error) {
        if (signal.aborted)
          throw new ToolError(ToolErrorCode.Cancelled, `Reading ${what} was given up by its caller.`, { cause: error });
        if (deadline.aborted)
          throw new ToolError(
            ToolErrorCode.Timeout,
            `Cannot read ${what}: OpenRouter gave no answer within ${timeoutMs} ms. Try again.`,
            { cause: error },
          );
        if (error instanceof BodyTooLargeError)
          throw new ToolError(
            ToolErrorCode.TooLarge,
            `Cannot read ${what}: the answer of OpenRouter is larger than ${MAX_ANSWER_BYTES} bytes.`,
          );
        throw connectionError(what, error);
      }
      if (status < 200 || status > 299) throw statusError({ what, status, retryAfter, body: text });
      return compact(text, what);
    },
  };
}

function compact(text: string, what: string): string {
  if (text.trim() === "") return "{}";
  try {
    return JSON.stringify(JSON.parse(text));
  } catch (error) {
    throw new ToolError(ToolErrorCode.ExecutionFailed, `Cannot read ${what}: the answer of OpenRouter is not JSON.`, {
      cause: error,
    });
  }
}
