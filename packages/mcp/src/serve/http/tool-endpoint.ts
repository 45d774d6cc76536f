import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpHttpHandler,
  McpServer,
  type RequestId,
  type Server,
} from "@modelcontextprotocol/server";
import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { boundedSchemaValidator } from "../../schema/bounded-schema-validator.ts";
import { createToolServer, type ToolServerOptions } from "../create-tool-server.ts";
import { namesHeaders, toListedTool } from "../tool-listing.ts";
import type { ToolSource } from "../tool-source.ts";
import type { Session } from "./session.ts";
import { SessionSharing } from "./session-sharing.ts";
import { type SessionLimits, Sessions } from "./sessions.ts";
import type { SharedSessions } from "./shared-sessions.ts";
import { whenEnded } from "./when-ended.ts";

/** The tools of an endpoint, by caller, and its bounds. */
export interface ToolEndpointOptions extends SessionLimits {
  /** The tools that a caller may see and call; undefined stands for a client that needs no name. */
  readonly sourceOf: (caller: string | undefined) => ToolSource;
  readonly version: string;
  readonly log: Logger;
  /** How often a comment is sent on a stream that is silent. @default 15_000 */
  readonly keepAliveMs?: number | undefined;
  /**
   * Where other endpoints find the sessions that are opened here, and this one theirs. It is left to its owner.
   * @default nowhere
   */
  readonly shared?: SharedSessions | undefined;
  /** Streams of changes of one caller in the newer era; one more is refused. @default 64 */
  readonly maxListenersPerCaller?: number | undefined;
}

export interface EndpointRequest {
  readonly caller: string | undefined;
  /** The body of a POST as JSON. */
  readonly body?: unknown;
  /** Aborts the request's signal: when its client is gone, or has cancelled what it asked for. */
  readonly controller: AbortController;
}

/** The sessions and listeners of an endpoint at this moment. */
export interface EndpointLoad {
  /** Clients of the older era that are remembered. */
  readonly sessions: number;
  /** Streams of changes that are open. */
  readonly listeners: number;
}

const SESSION_HEADER = "mcp-session-id";
const LISTEN = "subscriptions/listen";
/** The protocol's code for a session that is not there (any more). */
const NO_SESSION = -32_001;
const INVALID_REQUEST = -32_600;

/**
 * MCP over Streamable HTTP, in both protocol eras. A server of its own answers each POST, so that the answer needs
 * nothing but the request. A client whose stream ends has given its call up: there is no way to hand it the answer
 * later. In the newer era that is how calls are cancelled. In the older one a session remembers the running calls, so
 * that a request can cancel another. It also announces changes.
 */
export class ToolEndpoint implements AsyncDisposable {
  readonly #options: ToolEndpointOptions;
  readonly #keepAliveMs: number;
  readonly #handler: McpHttpHandler;
  readonly #sessions: Sessions;
  readonly #sharing: SessionSharing;
  /** Streams of changes of the newer era, by caller. */
  readonly #listeners = new Map<string | undefined, Set<AbortController>>();
  #isStopping = false;

  constructor(options: ToolEndpointOptions) {
    const { sourceOf, keepAliveMs = 15_000 } = options;
    this.#options = options;
    this.#keepAliveMs = keepAliveMs;
    this.#sessions = new Sessions(options);
    this.#sharing = new SessionSharing(this.#sessions, { shared: options.shared, log: options.log });
    this.#handler = createMcpHandler(
      ({ authInfo, era }) => {
        const { caller, toolName } = (authInfo?.extra ?? {}) as RequestFacts;
        return serverOf(sourceOf(caller), era === "modern" ? toolName : undefined, { ...options, era });
      },
      {
        keepAliveMs,
        maxSubscriptions: Number.MAX_SAFE_INTEGER, // bounded here, by caller
        onerror: (error) => options.log.debug({ error: String(error) }, "an MCP request was refused or failed"),
      },
    );
  }

  get load(): EndpointLoad {
    const modern = [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0);
    return { sessions: this.#sessions.size, listeners: this.#sessions.listening + modern };
  }

  /**
   * Answers a request.
   * @throws {ToolError} for what is refused before the protocol: too many sessions or listeners
   */
  async fetch(request: Request, asked: EndpointRequest): Promise<Response> {
    if (request.method === "GET") return this.#listen(request, asked.caller);
    if (request.method === "DELETE") return this.#endSession(request, asked.caller);
    if (!(await isLegacyRequest(request, asked.body))) return this.#fetchModern(request, asked);
    if (Array.isArray(asked.body)) return refusal(400, INVALID_REQUEST, "Send one message: batches are not taken");
    return this.#fetchLegacy(request, asked);
  }

  tell(): void {
    this.#sessions.tell();
    const { notify } = this.#handler;
    notify.toolsChanged();
    notify.promptsChanged();
    notify.resourcesChanged();
  }

  /** Ends the streams of changes, which would else never end, and takes no more of them. Calls go on. */
  stopListening(): void {
    this.#isStopping = true;
    this.#sessions.stopListening();
    for (const controller of [...this.#listeners.values()].flatMap((each) => [...each])) controller.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    await this.#sharing[Symbol.asyncDispose]();
    this.#sessions[Symbol.dispose]();
    await this.#handler.close();
  }

  async #fetchModern(request: Request, asked: EndpointRequest): Promise<Response> {
    if (messageOf(asked).method !== LISTEN) return this.#handle(request, asked);
    using stack = new DisposableStack();
    stack.use(this.#noteListener(asked.caller, asked.controller));
    const response = await this.#handle(request, asked);
    const noted = stack.move();
    return whenEnded(response, () => noted.dispose());
  }

  async #fetchLegacy(request: Request, asked: EndpointRequest): Promise<Response> {
    const { caller, body, controller } = asked;
    const given = request.headers.get(SESSION_HEADER);
    if (given === null && isInitializeRequest(body)) return this.#initialize(request, asked);
    const session = given === null ? undefined : await this.#sharing.find(given, caller);
    if (given !== null && session === undefined) return noSession();
    const { method, id, params } = messageOf(asked);
    if (method === "notifications/cancelled" && params?.requestId !== undefined && session !== undefined)
      await this.#sharing.cancel(session, params.requestId);
    const isRequest = typeof method === "string" && id !== undefined;
    if (isRequest && session?.isTaken(id))
      return refusal(400, INVALID_REQUEST, `A request with the id ${JSON.stringify(id)} still runs: choose another`);

    using stack = new DisposableStack();
    if (isRequest && session !== undefined) stack.use(session.run(id, controller));
    const response = await this.#handle(request, asked);
    const noted = stack.move();
    return withSession(
      whenEnded(response, () => noted.dispose()),
      session,
    );
  }

  /** Opens a session, unless the protocol refuses. */
  async #initialize(request: Request, asked: EndpointRequest): Promise<Response> {
    this.#refuseIfStopping();
    const session = this.#sessions.open(asked.caller);
    const response = await this.#handle(request, asked);
    if (response.ok) {
      await this.#sharing.note(session);
      return withSession(response, session);
    }
    this.#sessions.end(session);
    return response;
  }

  #handle(request: Request, asked: EndpointRequest): Promise<Response> {
    const { caller, body } = asked;
    // The token has been looked at by the calling code, and goes no further.
    return this.#handler.fetch(request, {
      parsedBody: body ?? null,
      authInfo: { token: "", clientId: caller ?? "", scopes: [], extra: { caller, toolName: toolNameOf(asked) } },
    });
  }

  async #listen(request: Request, caller: string | undefined): Promise<Response> {
    if (!(request.headers.get("accept") ?? "").includes("text/event-stream"))
      return refusal(406, INVALID_REQUEST, "A GET opens a stream of changes: accept text/event-stream");
    const given = request.headers.get(SESSION_HEADER);
    if (given === null)
      return refusal(
        400,
        INVALID_REQUEST,
        `A stream of changes belongs to a session: send the header ${SESSION_HEADER}`,
      );
    const session = await this.#sharing.find(given, caller);
    if (session === undefined) return noSession();
    this.#refuseIfStopping();
    const { body } = session.listen({ keepAliveMs: this.#keepAliveMs });
    return withSession(new Response(body, { headers: { "content-type": "text/event-stream" } }), session);
  }

  async #endSession(request: Request, caller: string | undefined): Promise<Response> {
    const session = await this.#sharing.find(request.headers.get(SESSION_HEADER) ?? "", caller);
    if (session === undefined) return noSession();
    await this.#sharing.end(session);
    return new Response(null, { status: 200 });
  }

  #noteListener(caller: string | undefined, controller: AbortController): Disposable {
    this.#refuseIfStopping();
    const { maxListenersPerCaller = 64 } = this.#options;
    const own = this.#listeners.get(caller) ?? new Set();
    if (own.size >= maxListenersPerCaller)
      throw new ToolError(
        ToolErrorCode.Overloaded,
        `Cannot tell you of changes: ${own.size} of your streams are open, the most there may be. Close one`,
        {
          retryAfterMs: 1_000,
        },
      );
    this.#listeners.set(caller, own.add(controller));
    return {
      [Symbol.dispose]: () => {
        own.delete(controller);
        if (own.size === 0 && this.#listeners.get(caller) === own) this.#listeners.delete(caller);
      },
    };
  }

  #refuseIfStopping(): void {
    if (this.#isStopping)
      throw new ToolError(ToolErrorCode.Unavailable, "Cannot answer the request: the gateway is stopping. Try again", {
        retryAfterMs: 1_000,
      });
  }
}

/** The facts of a request that the making of its server needs. */
interface RequestFacts {
  readonly caller?: string | undefined;
  /** The tool that it calls. */
  readonly toolName?: string | undefined;
}

interface Message {
  readonly method?: unknown;
  readonly id?: RequestId;
  readonly params?: { readonly requestId?: RequestId; readonly name?: unknown };
}

/** The message of a request, of which nothing is checked yet. */
const messageOf = ({ body }: EndpointRequest): Message => (body ?? {}) as Message;

function toolNameOf(asked: EndpointRequest): string | undefined {
  const { method, params } = messageOf(asked);
  return method === "tools/call" && typeof params?.name === "string" ? params.name : undefined;
}

/**
 * A server for one request. The SDK compares `Mcp-Param-*` headers with a call's arguments, if it is given its own kind
 * of server. It goes by the schema that the tool is listed with. Other calls do without a second server.
 */
async function serverOf(
  source: ToolSource,
  toolName: string | undefined,
  options: ToolServerOptions,
): Promise<McpServer | Server> {
  const server = createToolServer(source, options);
  const tool = toolName === undefined ? undefined : await source.findTool(toolName);
  if (tool === undefined || !namesHeaders(tool)) return server;
  const shell = new McpServer(
    { name: "rockbot", version: options.version },
    { jsonSchemaValidator: boundedSchemaValidator },
  );
  return Object.assign(shell, { server, toolInputSchemaJson: () => toListedTool(tool).inputSchema });
}

const withSession = (response: Response, session: Session | undefined): Response => {
  if (session !== undefined) response.headers.set(SESSION_HEADER, session.id);
  return response;
};

const noSession = (): Response =>
  refusal(404, NO_SESSION, "There is no such session: it has ended, or is not yours. Initialize a new one");

const refusal = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
