import {
  type AgentEvent,
  Keep,
  ToolError,
  ToolErrorCode,
  type ToolErrorMessage,
  type ToolGuide,
  type ToolInvokeResponse,
  toolErrorFrom,
} from "@rockbot/contracts";
import type { ListedTool } from "@rockbot/tools";
import { Agent, type Dispatcher, request } from "undici";
import { CommandError } from "../command-error.ts";
import type { OffTool } from "../runtime/off-tools.ts";
import { HERE_PATH } from "../runtime/own-socket.ts";
import { readEvents } from "./read-events.ts";
import type { ToolClient } from "./tool-client.ts";
import { watchFor } from "./watch-for.ts";

const CONNECT_MS = 2000;
const LIST_MS = 10_000;
/** The other side sends a comment every 10 seconds while a call runs: a longer silence means that it hangs. */
const SILENCE_MS = 30_000;

interface ToolList {
  readonly tools: readonly ListedTool[];
  readonly missing?: readonly string[];
  readonly unusable?: Readonly<Record<string, string>>;
}

/**
 * Calls through the socket of a running `rockbot up`, in the gateway's protocol. Closing the connection cancels a call.
 */
export function openSocketClient(socketPath: string): ToolClient {
  const dispatcher = new Agent({
    connect: { socketPath, timeout: CONNECT_MS },
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
  });
  const url = (path: string): string => `http://localhost${path}`;
  async function get(path: string): Promise<unknown> {
    const { statusCode, body } = await request(url(path), { dispatcher, signal: AbortSignal.timeout(LIST_MS) });
    if (statusCode !== 200) throw await errorOf(body);
    return await body.json();
  }
  const list = async () => (await get("/v1/tools")) as ToolList;
  const listTools = async () => (await list()).tools;

  return {
    where: `the running "rockbot up"`,
    keepsRuns: true,
    listTools,
    async listMissing() {
      const { missing = [], unusable = {} } = await list();
      return missing.map((service) => ({ service, fault: unusable[service] }));
    },
    listOff: async () => ((await get(HERE_PATH)) as { readonly off: readonly OffTool[] }).off,
    async getGuides() {
      const { guides } = (await get("/v1/guides")) as { readonly guides: readonly { readonly name: string }[] };
      return await Promise.all(
        guides.map(async ({ name }) => (await get(`/v1/guides/${encodeURIComponent(name)}`)) as ToolGuide),
      );
    },
    onChange: (listener) => watchFor(async () => JSON.stringify(await listTools()), listener),
    async follow(sessionId, _turnId, signal) {
      const { statusCode, body } = await request(url(`/v1/sessions/${encodeURIComponent(sessionId)}/events`), {
        dispatcher,
        signal,
      });
      if (statusCode !== 200) throw await errorOf(body);
      return agentEvents(body);
    },
    async call(name, args, options) {
      try {
        return await callThrough(
          { dispatcher, url: url(`/v1/tools/${encodeURIComponent(name)}/invoke`) },
          name,
          args,
          options,
        );
      } catch (error) {
        throw callError(error, name, options.signal);
      }
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}

/** @throws {ToolError} as the call ended; {CommandError} for an answer that cannot be read; what breaks a connection */
async function callThrough(
  { dispatcher, url }: { readonly dispatcher: Agent; readonly url: string },
  name: string,
  args: object,
  { toolCallId, firstSentMsAgo, timeoutMs, sessionId, keep, signal, onProgress }: Parameters<ToolClient["call"]>[2],
): Promise<ToolInvokeResponse> {
  const { statusCode, headers, body } = await request(url, {
    dispatcher,
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "idempotency-key": toolCallId,
      ...(keep === Keep.Detached ? { prefer: "respond-async" } : {}),
      ...(firstSentMsAgo === undefined ? {} : { "rockbot-age-ms": String(firstSentMsAgo) }),
      ...(timeoutMs === undefined ? {} : { "rockbot-timeout-ms": String(timeoutMs) }),
      ...(sessionId === undefined ? {} : { "rockbot-session": sessionId }),
    },
    body: JSON.stringify(args),
    signal: signal ?? null,
  });
  if (statusCode !== 200 || !String(headers["content-type"]).startsWith("text/event-stream")) throw await errorOf(body);
  for await (const { event, data } of readEvents(body)) {
    if (event === "progress") onProgress?.(JSON.parse(data) as object);
    else if (event === "result") return JSON.parse(data) as ToolInvokeResponse;
    else if (event === "error") throw toolErrorFrom(JSON.parse(data) as ToolErrorMessage);
  }
  throw new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `Cannot tell how the call of "${name}" ended: the running "rockbot up" closed the connection. The tool may have run`,
    { details: { mayHaveRun: true } },
  );
}

async function* agentEvents(body: Dispatcher.ResponseData["body"]): AsyncGenerator<AgentEvent> {
  for await (const { data } of readEvents(body)) yield JSON.parse(data) as AgentEvent;
}

function callError(error: unknown, name: string, signal: AbortSignal | undefined): Error {
  if (error instanceof ToolError || error instanceof CommandError) return error;
  if (signal?.aborted) return new ToolError(ToolErrorCode.Cancelled, `The call of "${name}" was cancelled`);
  if (neverConnected.has(codeOf(error)))
    return new ToolError(ToolErrorCode.Unavailable, `Cannot call "${name}": "rockbot up" has just ended. Try again`);
  return new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `Cannot tell how the call of "${name}" ended: the connection to the running "rockbot up" broke (${codeOf(error)}). The tool may have run`,
    { details: { mayHaveRun: true }, cause: error },
  );
}

async function errorOf(body: Dispatcher.ResponseData["body"]): Promise<Error> {
  const message = (await body.json().catch(() => undefined)) as ToolErrorMessage | undefined;
  if (message === undefined)
    return new CommandError('The running "rockbot up" gave an answer that cannot be read. Is it of another version?');
  return toolErrorFrom(message);
}

/** The request has certainly not been sent. */
const neverConnected: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOENT", "UND_ERR_CONNECT_TIMEOUT"]);

const codeOf = (error: unknown): string =>
  (error as { code?: string }).code ?? (error instanceof Error ? error.name : "unknown error");
