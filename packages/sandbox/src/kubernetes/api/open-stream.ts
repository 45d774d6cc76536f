import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { text } from "node:stream/consumers";
import { AwakeClock } from "@rockbot/base";
import { ApiError } from "./api-error.ts";
import type { ClusterConfig } from "./cluster-config.ts";

export interface OpenStreamOptions {
  /** For errors, such as "read the log". */
  readonly what: string;
  readonly query: Readonly<Record<string, string | number | boolean>>;
  /** Ends the request and its stream. */
  readonly signal: AbortSignal;
}

/** How long the server may take to begin its answer. */
const ANSWER_MS = 10_000;
const clock = new AwakeClock();

/**
 * The answer to a GET as it comes. The library's own Watch passes over lines that it cannot read, and its Log calls
 * every failure a status of 500: neither will do for somebody who has to tell a cut connection from an end.
 * @throws {ApiError} if the answer is not 200
 */
export async function openStream(
  config: ClusterConfig,
  path: string,
  { what, query, signal }: OpenStreamOptions,
): Promise<IncomingMessage> {
  const url = new URL(`${config.getCurrentCluster()?.server}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asked = request(url, { ...options, signal, headers: { ...options.headers, Accept: "application/json, */*" } });
  const callOff = clock.after(ANSWER_MS, () =>
    asked.destroy(new Error(`Cannot ${what}: the API server has not answered within ${ANSWER_MS / 1_000} s`)),
  );
  asked.on("response", resolve);
  asked.on("error", reject); // for the whole of its life: one that is late must not end the process
  asked.end();
  try {
    const answer = await promise;
    answer.on("error", () => {}); // its reader gets the error, too
    if (answer.statusCode === 200) return answer;
    throw new ApiError(what, answer.statusCode ?? 0, await text(answer), answer.headers["retry-after"]);
  } finally {
    callOff();
  }
}
