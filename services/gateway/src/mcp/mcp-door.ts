import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { ToolEndpoint } from "@rockbot/mcp/serve";
import type { Handler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Authenticate } from "../door/authenticate.ts";
import type { GatewayEnv } from "../door/guard.ts";
import { recheck } from "../door/recheck.ts";
import { errorBody } from "../http/http-error.ts";
import { McpRequestTooLargeError, readMcpMessage } from "../http/read-body.ts";
import { sendStream } from "../http/send-stream.ts";

export interface McpDoorOptions {
  readonly authenticate: Authenticate;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long a client may leave what it was sent unread. */
  readonly stallMs: number;
  /** How often it is asked again whether the token of a stream of changes still holds. */
  readonly recheckMs: number;
}

export const MCP_PATH = "/mcp";

/** The headers of a request that the protocol reads. Above all not the token, which has been looked at by then. */
const READ = /^(accept|content-type|mcp-[a-z-]+)$/;

/**
 * Tells whether a request opens a stream of changes, which lasts as long as its client wishes. The protocol refuses a
 * header that says other than the body.
 */
export const isListening = (method: string, mcpMethod: string | undefined): boolean =>
  method === "GET" || mcpMethod === "subscriptions/listen";

/** The protocol's code for a request that cannot be taken as it is. */
const INVALID_REQUEST = -32_600;

/** Answers what has passed the guard by the protocol MCP. A client that goes away cancels what it asked for. */
export function mcpDoor(
  endpoint: () => Promise<ToolEndpoint>,
  { authenticate, recheckMs, ...sending }: McpDoorOptions,
): Handler<GatewayEnv> {
  return async (c) => {
    const { incoming, outgoing } = c.env;
    const { method } = c.req;
    const caller = c.get("caller");
    let body: unknown;
    try {
      if (method === "POST") body = readMcpMessage(c.get("body"), incoming.headers);
    } catch (error) {
      if (!(error instanceof McpRequestTooLargeError) || error.id === undefined) throw error;
      return c.json({
        jsonrpc: "2.0",
        id: error.id,
        error: { code: INVALID_REQUEST, message: error.message, data: errorBody(error) },
      });
    }
    const controller = new AbortController();
    if (outgoing.closed) controller.abort();
    outgoing.once("close", () => {
      if (!outgoing.writableFinished) controller.abort(); // after its answer there is nothing to cancel
    });

    const headers = Object.entries(incoming.headers).filter(
      (entry): entry is [string, string] => READ.test(entry[0]) && typeof entry[1] === "string",
    );
    const request = new Request(c.req.url, { method, headers, signal: controller.signal });
    const response = await (await endpoint()).fetch(request, { caller, body, controller });
    if (!(response.headers.get("content-type") ?? "").startsWith("text/event-stream")) {
      const [text, named] = [await response.text(), Object.fromEntries(response.headers)];
      const status = response.status as ContentfulStatusCode;
      if (text === "") return c.body(null, status, named);
      if (status !== 200) return c.body(text, status, named);
      // Written here it is one piece, where a Response is a stream that is read again.
      outgoing.writeHead(200, { ...named, "content-length": Buffer.byteLength(text) }).end(text);
      return RESPONSE_ALREADY_SENT;
    }

    using _recheck = isListening(method, c.req.header("mcp-method")) ? recheck(c, authenticate, recheckMs) : undefined;
    await sendStream(outgoing, response, { ...sending, onStall: () => c.get("visit").awaitReader() });
    return RESPONSE_ALREADY_SENT;
  };
}
