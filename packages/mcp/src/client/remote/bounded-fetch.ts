import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import type { FetchLike } from "@modelcontextprotocol/client";
import { retryAfterMs } from "@rockbot/base";
import { BodyTooLargeError, readIncoming } from "@rockbot/edge/body";
import {
  type AddressPolicyOptions,
  BlockedAddressError,
  guardedFetch,
  type PostAnswer,
  postText,
} from "@rockbot/edge/outbound";
import { NotSentError } from "../call/not-sent-error.ts";
import { isId, noAnswer } from "../incoming/mend-answers.ts";
import { MAX_LINE_BYTES } from "../stdio/line-splitter.ts";
import { mendedEvents, mendedJson } from "./mended-body.ts";
import { NetworkFault } from "./network-fault.ts";

/** The server refused the request before it looked at what it asks for. */
export class HttpRefusalError extends Error {
  override readonly name = "HttpRefusalError";
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(status: number, retryAfterMs: number | undefined) {
    super(`status ${status}`);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The answer is larger than what is read. */
export class AnswerTooLongError extends Error {
  override readonly name = "AnswerTooLongError";
}

/** Refusals that say when to come back. */
const COME_BACK: ReadonlySet<number> = new Set([429, 503]);
/** Statuses that answer a notification, and are no answer to a request. */
const ACCEPTED: ReadonlySet<number> = new Set([202, 204]);
/** Statuses of answers that have no body, whatever comes. */
const RESET = 205;
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, RESET, 304]);
/** Refusals that may be others next time, or that credentials mend. */
const LATER: ReadonlySet<number> = new Set([401, 403, 408, 425, 429]);
/** By which a server says that it has no such stream. */
const NO_STREAM = 405;
const MAX_RETRY_AFTER_MS = 3_600_000;
/** The errors from before the first byte of a request is on its way. */
const BEFORE_SENDING: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_TLS_CERT_ALTNAME_INVALID",
]);

export interface BoundedFetchOptions {
  /** The bound of an answer, or of one event. @default 10 MiB */
  readonly maxBytes?: number | undefined;
  /** Connects to public addresses only, but for these, and follows no redirect. @default anywhere */
  readonly guard?: AddressPolicyOptions | undefined;
  /** True if only the response to its POST answers a request. @default false */
  readonly answersPosts?: boolean | undefined;
}

/**
 * `fetch` for talking to an MCP server. It loses no answer that the SDK would lose: see mendAnswers. It tells requests
 * that were certainly not sent from those that may have been, and keeps the words of a refusal. It reads at most
 * `maxBytes` of an answer, or of one event in a stream of events, which may last.
 * @throws {NotSentError} {HttpRefusalError} and whatever fetch throws
 */
export function boundedFetch({
  maxBytes = MAX_LINE_BYTES,
  guard,
  answersPosts = false,
}: BoundedFetchOptions = {}): FetchLike {
  const ask = asking(guard);
  return async (url, init) => {
    let answer: Answer;
    try {
      answer = await ask(url, init);
    } catch (error) {
      if ((error as Error).cause instanceof BlockedAddressError)
        throw new NotSentError("its address is not on the public Internet", { cause: error });
      const code = codeOf(error);
      if (code !== undefined && BEFORE_SENDING.has(code))
        throw new NotSentError(`the connection is refused (${code})`, {
          cause: new NetworkFault(url, code, error as Error),
        });
      if (!(error instanceof TypeError)) throw error;
      throw new TypeError(error.message, { cause: new NetworkFault(url, code, error) });
    }
    const { status, statusText = "", headers, body } = answer;
    if (COME_BACK.has(status)) {
      body?.destroy();
      const waitMs = retryAfterMs(headers.get("retry-after") ?? undefined);
      throw new HttpRefusalError(status, waitMs === undefined ? undefined : Math.min(waitMs, MAX_RETRY_AFTER_MS));
    }
    const askedId = () => idOf(init?.body);
    const asked = answersPosts && status >= 200 && status < 300 && init?.method === "POST" ? askedId() : undefined;
    if (isId(asked) && (ACCEPTED.has(status) || body === undefined)) {
      body?.destroy();
      return Response.json(noAnswer(asked));
    }
    if (isForgotten(status, init)) {
      body?.destroy();
      return new Response(null, { status: NO_STREAM });
    }
    if (body === undefined || WITHOUT_BODY.has(status)) {
      if (status === RESET)
        body?.destroy(); // it may have a body, and one without an end
      else body?.resume();
      return new Response(null, { status, statusText, headers });
    }
    const type = headers.get("content-type")?.toLowerCase() ?? "";
    if (isId(asked) && (type === "" || type.startsWith("application/json"))) {
      const text = mendedJson(await readText(body, maxBytes), askedId, asked);
      headers.set("content-type", "application/json");
      return new Response(text, { headers });
    }
    if (type.startsWith("application/json"))
      return new Response(mendedJson(await readText(body, maxBytes), askedId), { status, statusText, headers });
    const stream = Readable.toWeb(body) as ReadableStream<Uint8Array>;
    const read = type.startsWith("text/event-stream")
      ? stream.pipeThrough(boundedEvents(maxBytes)).pipeThrough(mendedEvents(askedId))
      : stream.pipeThrough(boundedBytes(maxBytes));
    return new Response(read, { status, statusText, headers });
  };
}

type Answer = Omit<PostAnswer, "body"> & {
  readonly body: Readable | undefined;
  readonly statusText?: string | undefined;
};

/** Messages use `postText`. All else is rare and uses `fetch`, as does an address with a password, which that refuses. */
function asking(guard: AddressPolicyOptions | undefined): (...asked: Parameters<FetchLike>) => Promise<Answer> {
  const fetch = guard === undefined ? globalThis.fetch : guardedFetch(guard);
  return async (url, init) => {
    const to = new URL(url);
    const { method, body: message, redirect, headers, signal } = init ?? {};
    const mayFollow = redirect !== "manual" && guard === undefined;
    if (method === "POST" && typeof message === "string" && !mayFollow && to.username === "" && to.password === "")
      return postText(to, { headers: new Headers(headers), body: message, signal: signal ?? undefined, guard });
    const { status, statusText, headers: given, body } = await fetch(url, init);
    return {
      status,
      statusText,
      headers: new Headers(given),
      body: body === null ? undefined : Readable.fromWeb(body as NodeReadableStream),
    };
  };
}

/** @throws {AnswerTooLongError} and what ends the connection */
async function readText(body: Readable, maxBytes: number): Promise<string> {
  try {
    return (await readIncoming(body, maxBytes)).toString("utf8");
  } catch (error) {
    body.destroy();
    if (error instanceof BodyTooLargeError) throw new AnswerTooLongError(`the answer has more than ${maxBytes} bytes`);
    throw error;
  }
}

/** Tells whether a stream to be continued from an event is gone for good: asking again would not help. */
const isForgotten = (status: number, init: RequestInit | undefined): boolean =>
  status >= 400 &&
  status < 500 &&
  !LATER.has(status) &&
  init?.method === "GET" &&
  new Headers(init.headers).has("last-event-id");

/** The id of the one request in a body. */
function idOf(body: unknown): unknown {
  if (typeof body !== "string") return undefined;
  const last = /,"id":(\d{1,15})\}$/.exec(body.slice(-32))?.[1]; // as the SDK writes it: a body may be long
  if (last !== undefined) return Number(last);
  try {
    return (JSON.parse(body) as { readonly id?: unknown } | null)?.id;
  } catch {
    return undefined;
  }
}

/** The code of an error, or of what caused it. */
export function codeOf(error: unknown): string | undefined {
  for (
    let at = error, depth = 0;
    typeof at === "object" && at !== null && depth < 5;
    at = (at as Error).cause, depth++
  ) {
    const { code, errors } = at as { code?: unknown; errors?: readonly unknown[] };
    if (typeof code === "string") return code;
    const inner = errors?.map(codeOf).find((found) => found !== undefined);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function boundedBytes(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new AnswerTooLongError(`the answer has more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}

/** Counts anew from each empty line, which ends an event. */
function boundedEvents(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = Math.max(
        Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).lastIndexOf("\n\n"),
        Buffer.from(chunk).lastIndexOf("\r\n\r\n"),
      );
      bytes = end === -1 ? bytes + chunk.byteLength : chunk.byteLength - end;
      if (bytes > maxBytes) controller.error(new AnswerTooLongError(`an event has more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
