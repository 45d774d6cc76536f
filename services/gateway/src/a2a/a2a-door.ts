import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { AgentCard } from "@a2a-js/sdk";
import { agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import express, { type ErrorRequestHandler, type RequestHandler } from "express";
import type { Context } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import { errorBody, HttpErrorCode, statusOf } from "../http/http-error.ts";
import { type ReceivedBody, readA2aBody } from "../http/read-body.ts";
import { A2A_PATH, type A2aPaths } from "./a2a-card.ts";
import { A2aClient } from "./a2a-client.ts";
import { checkParts } from "./check-parts.ts";
import type { TaskDesk } from "./task-desk.ts";

/** An agent with a card of its own. */
export interface A2aAgent {
  /** As it is now: tokens may come and go with the policy. */
  readonly card: () => AgentCard;
  readonly desk: TaskDesk;
  readonly paths: A2aPaths;
}

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

/** A request with what the SDK's handlers look for. */
interface A2aRequest extends IncomingMessage {
  a2aClient: A2aClient;
  body: unknown;
  /** Has express take the body as it is. */
  _body: boolean;
}

const LOOK_MS = 1_000;
/**
 * Of one answer, and of all of one caller. A client that leaves more unread is cut off: of a caller's answers, the one
 * with most.
 */
const MAX_UNREAD_BYTES = { ofOne: 16 * 1024 * 1024, ofCaller: 32 * 1024 * 1024 } as const;

/**
 * The door for A2A, in both bindings and versions. The SDK has HTTP+JSON, and 0.3, for express alone. So its express
 * app answers here, behind the gateway's own guard and admission, which have read the body.
 */
export function a2aDoor({ agents, headers, stallMs, ending, log }: A2aDoorOptions): A2aDoor {
  const app = express();
  const readers = new Readers(stallMs);
  app.disable("x-powered-by");
  const userBuilder = async (request: unknown) => (request as A2aRequest).a2aClient;
  const legacyCompat = { enabled: true };
  for (const { card, desk, paths } of agents) {
    for (const path of paths.cards)
      app.use(path, agentCardHandler({ agentCardProvider: async () => card(), legacyCompat, cache: { maxAge: 0 } }));
    app.use(paths.rpc, jsonRpcHandler({ requestHandler: desk, userBuilder, legacyCompat }));
    app.use(paths.http, restHandler({ requestHandler: desk, userBuilder, legacyCompat }));
  }
  app.use(noPath, failed(log));
  const rpcPaths = new Set(agents.map(({ paths }) => paths.rpc));

  async function answer(
    { env: { incoming, outgoing } }: Context<GatewayEnv>,
    request: Pick<A2aRequest, "body" | "a2aClient">,
  ): Promise<Response> {
    for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
    const closed = new Promise<void>((resolve) => outgoing.once("close", resolve));
    app(Object.assign(incoming, request, { _body: true }), outgoing);
    if (!outgoing.closed) await closed;
    return RESPONSE_ALREADY_SENT;
  }

  return {
    path: A2A_PATH,
    cardPaths: agents.flatMap(({ paths }) => paths.cards),
    card: (c) => answer(c, { body: {}, a2aClient: new A2aClient("", AbortSignal.abort()) }),
    async requests(c) {
      const { incoming, outgoing } = c.env;
      const isRpc = incoming.method === "POST" && rpcPaths.has(c.req.path);
      const refusal = isRpc ? rpcRefusal(c.get("body"), incoming.headers) : undefined;
      if (refusal !== undefined) return Response.json(refusal, { headers });
      const body = readA2aBody(c.get("body"), incoming.headers);
      checkParts(body);
      const gone = new AbortController();
      outgoing.once("close", () => gone.abort());
      const a2aClient = new A2aClient(
        c.get("caller") ?? "",
        ending === undefined ? gone.signal : AbortSignal.any([gone.signal, ending]),
      );
      using _reader = readers.watch(outgoing, a2aClient.by, () => c.get("visit").awaitReader());
      return await answer(c, { body, a2aClient });
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

/** In the place of express's own pages, which show its files. */
const noPath: RequestHandler = (_, response) => {
  const error = new ToolError(
    HttpErrorCode.NotFound,
    "Cannot answer the request: A2A has no such path or method here. The agent's card names the addresses",
  );
  response.status(statusOf(error.code)).json(errorBody(error));
};

const failed =
  (log: Logger): ErrorRequestHandler =>
  (error: { readonly status?: number }, _, response, __) => {
    const isTheirs = error.status !== undefined && error.status < 500;
    if (!isTheirs) log.error({ err: error }, "a request failed in the gateway");
    const said = isTheirs
      ? new ToolError(HttpErrorCode.BadRequest, "Cannot read the request: its path or its body has no proper form")
      : new ToolError(ToolErrorCode.ExecutionFailed, "Cannot answer the request: the gateway failed. Its log says why");
    if (response.headersSent) response.destroy();
    else response.status(statusOf(said.code)).json(errorBody(said));
  };

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
