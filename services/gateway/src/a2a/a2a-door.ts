import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { A2A_PATH, type A2aAgent, A2aClient, a2aApp, checkParts, type PlainAnswer } from "@rockbot/a2a/serve";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Context } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import { errorBody, HttpErrorCode, statusOf } from "../http/http-error.ts";
import { type ReceivedBody, readA2aBody } from "../http/read-body.ts";

export interface A2aDoorOptions {
  readonly agents: readonly A2aAgent[];
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long a client may leave what it was sent unread. */
  readonly stallMs: number;
  /** Aborts when streams end, as the process stops. */
  readonly ending: AbortSignal | undefined;
  readonly log: Logger;
}

/** The two handlers that a gateway with A2A has. */
export interface A2aDoor {
  /** All of A2A is below it, but for the card at the root. */
  readonly path: string;
  /** Where there are cards. */
  readonly cardPaths: readonly string[];
  /** Answers requests for a card, which need no token. */
  readonly card: (c: Context<GatewayEnv>) => Promise<Response>;
  /** Answers what has passed the guard. */
  readonly requests: (c: Context<GatewayEnv>) => Promise<Response>;
}

const LOOK_MS = 1_000;
/**
 * The bound of one answer, and of all answers of one caller. A client that leaves more unread is cut off: of a caller's
 * answers, the one with most.
 */
const MAX_UNREAD_BYTES = { ofOne: 16 * 1024 * 1024, ofCaller: 32 * 1024 * 1024 } as const;

/** The door for A2A, behind the gateway's own guard and admission, which have read the body. */
export function a2aDoor({ agents, headers, stallMs, ending, log }: A2aDoorOptions): A2aDoor {
  const app = a2aApp(agents, { onNoPath: () => plain(NO_PATH), onFailure: (error) => plain(failure(error, log)) });
  const readers = new Readers(stallMs);
  const rpcPaths = new Set(agents.map(({ paths }) => paths.rpc));

  async function answer(
    { env: { incoming, outgoing } }: Context<GatewayEnv>,
    request: { readonly body: unknown; readonly client: A2aClient },
  ): Promise<Response> {
    for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
    const closed = new Promise<void>((resolve) => outgoing.once("close", resolve));
    app(incoming, outgoing, request);
    if (!outgoing.closed) await closed;
    return RESPONSE_ALREADY_SENT;
  }

  return {
    path: A2A_PATH,
    cardPaths: agents.flatMap(({ paths }) => paths.cards),
    card: (c) => answer(c, { body: {}, client: new A2aClient("", AbortSignal.abort()) }),
    async requests(c) {
      const { incoming, outgoing } = c.env;
      const isRpc = incoming.method === "POST" && rpcPaths.has(c.req.path);
      const refusal = isRpc ? rpcRefusal(c.get("body"), incoming.headers) : undefined;
      if (refusal !== undefined) return Response.json(refusal, { headers });
      const body = readA2aBody(c.get("body"), incoming.headers);
      checkParts(body);
      const gone = new AbortController();
      outgoing.once("close", () => gone.abort());
      const client = new A2aClient(
        c.get("caller") ?? "",
        ending === undefined ? gone.signal : AbortSignal.any([gone.signal, ending]),
      );
      using _reader = readers.watch(outgoing, client.by, () => c.get("visit").awaitReader());
      return await answer(c, { body, client });
    },
  };
}

/**
 * The answer to a body that is no request of JSON-RPC. The SDK has one code for all of that.
 * @throws {ToolError} for what is none of JSON-RPC's matter
 */
function rpcRefusal(received: ReceivedBody, headers: IncomingHttpHeaders): object | undefined {
  try {
    const { jsonrpc, method, id = null } = readA2aBody(received, headers);
    const isId = id === null || typeof id === "string" || Number.isSafeInteger(id);
    if (jsonrpc === "2.0" && typeof method === "string" && isId) return undefined;
    return rpcError(
      -32_600,
      isId ? id : null,
      'Cannot read the request: JSON-RPC wants "jsonrpc": "2.0", a method, and an id that is a text or a whole number',
    );
  } catch (error) {
    if (!(error instanceof ToolError) || error.code !== ToolErrorCode.InvalidArguments) throw error;
    return rpcError(isJson(received) ? -32_600 : -32_700, null, error.message);
  }
}

const rpcError = (code: number, id: unknown, message: string): object => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});

function isJson(received: ReceivedBody): boolean {
  try {
    JSON.parse(String(received));
    return true;
  } catch {
    return false;
  }
}

const plain = (error: ToolError): PlainAnswer => ({ status: statusOf(error.code), body: errorBody(error) });

const NO_PATH = new ToolError(
  HttpErrorCode.NotFound,
  "Cannot answer the request: A2A has no such path or method here. The agent's card names the addresses",
);

/** The error of a request that failed before or in a handler. */
function failure(error: { readonly status?: number }, log: Logger): ToolError {
  if (error.status !== undefined && error.status < 500)
    return new ToolError(HttpErrorCode.BadRequest, "Cannot read the request: its path or its body has no proper form");
  log.error({ err: error }, "a request failed in the gateway");
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    "Cannot answer the request: the gateway failed. Its log says why",
  );
}

/**
 * A client that does not read takes no place of running requests, and is cut off in time: the SDK writes on without
 * waiting.
 */
class Readers {
  readonly #stallMs: number;
  /** Answers by caller. */
  readonly #answers = new Map<string, Set<ServerResponse>>();

  constructor(stallMs: number) {
    this.#stallMs = stallMs;
  }

  watch(outgoing: ServerResponse, caller: string, onStall: () => () => void): Disposable {
    let stall: { readonly since: number; readonly readsOn: () => void } | undefined;
    const timer = setInterval(() => {
      if (this.#leavesTooMuch(outgoing, caller)) outgoing.destroy();
      else if (!outgoing.writableNeedDrain) {
        stall?.readsOn();
        stall = undefined;
      } else if (stall === undefined) stall = { since: performance.now(), readsOn: onStall() };
      else if (performance.now() - stall.since > this.#stallMs) outgoing.destroy();
    }, LOOK_MS);
    const own = this.#answers.get(caller) ?? new Set();
    this.#answers.set(caller, own.add(outgoing));
    return {
      [Symbol.dispose]: () => {
        clearInterval(timer);
        own.delete(outgoing);
        if (own.size === 0) this.#answers.delete(caller);
      },
    };
  }

  #leavesTooMuch({ writableLength }: ServerResponse, caller: string): boolean {
    if (writableLength > MAX_UNREAD_BYTES.ofOne) return true;
    const unread = [...(this.#answers.get(caller) ?? [])]
      .filter(({ destroyed }) => !destroyed)
      .map((answer) => answer.writableLength);
    return (
      unread.reduce((sum, bytes) => sum + bytes, 0) > MAX_UNREAD_BYTES.ofCaller && writableLength >= Math.max(...unread)
    );
  }
}
