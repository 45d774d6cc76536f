import type { Duplex } from "node:stream";
import { BodyTooLargeError, readBounded } from "@rockbot/edge/body";
import { type Dispatcher, Pool } from "undici";
import { EngineError } from "./engine-error.ts";

/** Longest answer to a call that is read: a list of some thousand containers. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export interface EngineCall {
  readonly method: "GET" | "POST" | "DELETE";
  /** With what belongs to the path; the version of the API is the engine's own newest. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: object | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The part of the Docker engine's API that sandboxes need, over its unix socket: undici speaks it, as the usual client
 * brings an SSH client along whose native code cannot be bundled. Each call has a deadline.
 */
export interface EngineApi extends AsyncDisposable {
  /**
   * @returns what the engine answers, undefined if that is nothing
   * @throws {EngineError} if it refuses; what undici throws if it is not reached
   */
  call(call: EngineCall): Promise<unknown>;
  /** What the engine reports of itself, one object at a time, until a time that the query says. @throws as `call` */
  report(call: EngineCall): AsyncIterable<unknown>;
  /**
   * Both directions of a container's streams, from its start on if it has not been started: stdin as it is, stdout and
   * stderr in frames.
   */
  attach(container: string, options: { readonly signal: AbortSignal }): Promise<Duplex>;
}

export interface EngineApiOptions {
  readonly socketPath: string;
  /** For each call, in milliseconds. */
  readonly timeoutMs: number;
}

export function connectEngine({ socketPath, timeoutMs }: EngineApiOptions): EngineApi {
  const pool = new Pool("http://engine", { socketPath, connections: 16, headersTimeout: 0, bodyTimeout: 0 });

  async function request({ method, path, query, body, signal }: EngineCall): Promise<Dispatcher.ResponseData> {
    const content =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const response = await pool.request({
      method,
      path,
      ...(query === undefined ? {} : { query }),
      ...content,
      signal: inTime(timeoutMs, signal),
    });
    if (response.statusCode >= 400) throw new EngineError(response.statusCode, messageOf(await read(response)));
    return response;
  }

  return {
    async call(call) {
      return parse(await read(await request(call)));
    },
    async *report(call) {
      const { body } = await request(call);
      let begun = "";
      for await (const chunk of body.setEncoding("utf8") as AsyncIterable<string>) {
        const lines = (begun + chunk).split("\n");
        begun = lines.pop() ?? "";
        if (begun.length > MAX_ANSWER_BYTES) throw tooLong();
        for (const line of lines) yield parse(line);
      }
    },
    async attach(container, { signal }) {
      const path = `/containers/${container}/attach?stream=1&stdin=1&stdout=1&stderr=1`;
      const { socket } = await pool.upgrade({
        method: "POST",
        path,
        protocol: "tcp",
        signal: inTime(timeoutMs, signal),
      });
      return socket;
    },
    async [Symbol.asyncDispose]() {
      await pool.destroy();
    },
  };
}

const inTime = (ms: number, signal: AbortSignal | undefined): AbortSignal =>
  signal === undefined ? AbortSignal.timeout(ms) : AbortSignal.any([signal, AbortSignal.timeout(ms)]);

const tooLong = (): EngineError => new EngineError(500, `the answer is longer than ${MAX_ANSWER_BYTES} bytes`);

async function read({ body }: Dispatcher.ResponseData): Promise<string> {
  try {
    return (await readBounded(body as AsyncIterable<Buffer>, MAX_ANSWER_BYTES)).toString("utf8");
  } catch (error) {
    throw error instanceof BodyTooLargeError ? tooLong() : error;
  }
}

function messageOf(answer: string): string {
  const parsed = parse(answer);
  return typeof parsed === "object" && parsed !== null && "message" in parsed
    ? String(parsed.message)
    : answer.slice(0, 500);
}

/** What is not JSON is undefined. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
