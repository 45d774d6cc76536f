import { statusOf } from "../errors/to-model-error.ts";
import { ModelError } from "../model-error.ts";
import { anthropicMender } from "./anthropic-events.ts";
import { EventLines } from "./event-lines.ts";
import { eventsOfWhole, openAiMender } from "./open-ai-events.ts";
import { wellFormedBody } from "./well-formed-body.ts";

export interface Watch {
  /** The longest silence before the first byte of the answer, headers not counted. */
  readonly firstByteMs: number;
  /** The longest silence after it. */
  readonly idleMs: number;
  /** "model X at host": for errors. */
  readonly subject: string;
  readonly protocol: "openai" | "anthropic";
}

/** An answer with more bytes on the wire is broken off. */
const MAX_BYTES = 128 * 1024 * 1024;
/** The longest wait for the end of an answer that has told its last event. A proxy may never send it. */
const REST_MS = 1_000;
const MAX_REST_BYTES = 64 * 1024;
/** The bound of an answer that is no stream: so far only errors. */
const MAX_WHOLE_BYTES = 1024 * 1024;

/**
 * `fetch` for answers that stream: it bounds their silence and their size, and follows no redirect, which would take
 * the key to another place. Status 200 with an error as JSON becomes the status that it means, and an answer that came
 * whole becomes a stream. Text goes out well-formed.
 */
export function watchedFetch(watch: Watch): typeof fetch {
  return async (input, init = {}) => {
    const silence = new Silence(watch);
    const signal = init.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal;
    try {
      const body = typeof init.body === "string" ? { body: wellFormedBody(init.body) } : {};
      const response = await fetch(input, { ...init, ...body, redirect: "manual", signal });
      if (response.status >= 300 && response.status < 400) throw redirected(response, watch.subject);
      return await readable(response, silence, watch);
    } catch (error) {
      silence.end();
      throw error;
    }
  };
}

/** Aborts if nothing comes for too long. */
class Silence {
  readonly #watch: Watch;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout;

  constructor(watch: Watch) {
    this.#watch = watch;
    this.#timer = this.#after(watch.firstByteMs, `no answer began within ${watch.firstByteMs / 1000} s`);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#after(this.#watch.idleMs, `the answer stood still for ${this.#watch.idleMs / 1000} s`);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #after(ms: number, what: string): NodeJS.Timeout {
    return setTimeout(
      () =>
        this.#controller.abort(new ModelError("timeout", `Cannot get an answer of ${this.#watch.subject}: ${what}`)),
      ms,
    );
  }
}

function redirected(response: Response, subject: string): ModelError {
  const to = URL.parse(response.headers.get("location") ?? "", response.url)?.origin ?? "an unknown place";
  void response.body?.cancel();
  return new ModelError(
    "invalid_request",
    `Cannot ask ${subject}: it redirects to ${to}, where the key does not go. Use the URL that it leads to.`,
  );
}

async function readable(response: Response, silence: Silence, { subject, protocol }: Watch): Promise<Response> {
  const type = response.headers.get("content-type") ?? "";
  const bounded = (max: number) =>
    response.body === null ? endOf(silence) : counted(response.body, silence, { max, subject, protocol });
  if (response.ok && /^application\/json\b/i.test(type))
    return asStatus(await new Response(bounded(MAX_WHOLE_BYTES)).text(), response, { subject, protocol });
  if (response.ok && /^text\/html\b/i.test(type)) {
    void response.body?.cancel();
    throw new ModelError(
      "invalid_request",
      `Cannot ask ${subject}: it answers with a web page. Check the URL: it ends in /v1 for most servers.`,
    );
  }
  return new Response(bounded(response.ok ? MAX_BYTES : MAX_WHOLE_BYTES), response);
}

function counted(
  body: ReadableStream<Uint8Array>,
  silence: Silence,
  { max, subject, protocol }: Pick<Watch, "subject" | "protocol"> & { readonly max: number },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const mark = new EndMark();
  const lines = new EventLines(protocol === "openai" ? openAiMender() : anthropicMender());
  let bytes = 0;
  /** The next lines; `isLast` once there are no more. */
  async function next(): Promise<{ readonly whole: Uint8Array; readonly isLast: boolean }> {
    const { done, value } = await reader.read();
    if (done) return { whole: lines.rest(), isLast: true };
    silence.heard();
    bytes += value.length;
    if (bytes > max)
      throw new ModelError("interrupted", `Cannot take the answer of ${subject}: it has more than ${max} bytes`, {
        isRetryable: false,
      });
    const end = mark.endIn(value);
    if (end === undefined) return { whole: lines.take(value), isLast: false };
    void readRest(reader);
    return { whole: lines.take(Buffer.concat([value.subarray(0, end), Buffer.from("\n\n")])), isLast: true };
  }
  return new ReadableStream({
    async pull(controller) {
      try {
        for (;;) {
          const { whole, isLast } = await next();
          if (whole.length > 0) controller.enqueue(whole);
          if (isLast) {
            silence.end();
            return controller.close();
          }
          if (whole.length > 0) return;
        }
      } catch (error) {
        silence.end();
        controller.error(error);
        await reader.cancel(error).catch(() => {});
      }
    },
    async cancel(reason) {
      silence.end();
      await reader.cancel(reason);
    },
  });
}

/**
 * Reads what comes after the last event, which may be nothing but the end: `fetch` uses a connection again only once
 * its answer has ended.
 */
async function readRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const leave = (): void => void reader.cancel().catch(() => {});
  const timer = setTimeout(leave, REST_MS).unref();
  try {
    for (let bytes = 0; bytes <= MAX_REST_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return;
      bytes += value.length;
    }
    leave();
  } catch {
    // Its connection is gone. The answer is whole.
  } finally {
    clearTimeout(timer);
  }
}

/** The last event of OpenAI's protocol, and of Anthropic's. */
const DONE = /^data: ?\[DONE\]/;
const MESSAGE_STOP = /^data: ?\{ ?"type": ?"message_stop"/;
/** The marks are in the first characters of a line. */
const MARK_CHARACTERS = 48;

/**
 * Finds where the events end: a proxy may hold the connection open after them, or write spaces after the mark that the
 * SDK does not take.
 */
class EndMark {
  #line = "";

  /** How many bytes of a piece belong to the events, if they end in it. */
  endIn(piece: Uint8Array): number | undefined {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    for (let at = 0; at < bytes.length; ) {
      const newline = bytes.indexOf("\n", at);
      const stop = newline === -1 ? bytes.length : newline;
      const known = this.#line.length;
      this.#line += bytes.toString("latin1", at, Math.min(stop, at + MARK_CHARACTERS - known));
      const done = DONE.exec(this.#line);
      if (done !== null) return at + done[0].length - known;
      if (newline === -1) return undefined;
      if (MESSAGE_STOP.test(this.#line)) return newline;
      this.#line = "";
      at = newline + 1;
    }
    return undefined;
  }
}

function endOf(silence: Silence): null {
  silence.end();
  return null;
}

/**
 * A whole answer to a request for a stream: an error with the wrong status, or the answer of a server that cannot
 * stream.
 */
function asStatus(
  body: string,
  response: Response,
  { subject, protocol }: Pick<Watch, "subject" | "protocol">,
): Response {
  const error = errorOf(body);
  if (error === undefined) {
    if (body.trim() === "")
      throw new ModelError("interrupted", `Cannot take the answer of ${subject}: there is nothing in it`);
    const events = protocol === "openai" ? eventsOfWhole(body) : undefined;
    if (events !== undefined) return new Response(events, { headers: { "content-type": "text/event-stream" } });
    throw new ModelError(
      "invalid_request",
      `Cannot ask ${subject}: it answers with JSON, not with a stream of events. RockBot needs a server that streams.`,
    );
  }
  const { type, code } = error as { readonly type?: unknown; readonly code?: unknown };
  const status = Number(code);
  const isStatus = Number.isInteger(status) && status >= 400 && status < 600;
  return new Response(body, {
    status: isStatus ? status : (statusOf(`${type} ${code}`) ?? 502),
    headers: response.headers,
  });
}

function errorOf(body: string): object | undefined {
  try {
    const { error } = JSON.parse(body) ?? {};
    return typeof error === "object" && error !== null
      ? error
      : typeof error === "string"
        ? { message: error }
        : undefined;
  } catch {
    return undefined;
  }
}
