import { type Bus, DeadLetterError, type Logger } from "@rockbot/bus";
import {
  createEnvelope,
  type Decoded,
  decodeMessage,
  type Envelope,
  encodeMessage,
  Header,
  MCP_BRIDGE,
  MCP_MANAGE_SUBSCRIPTION,
  type MessageName,
  type Messages,
  mcpTopics,
  messages,
  ToolErrorCode,
} from "@rockbot/contracts";
import { callerOf, type Identity, METERED, type MessageMeter } from "@rockbot/tools";
import type { ServerRequests } from "../registration/server-requests.ts";
import type { ServerPool } from "../servers/server-pool.ts";
import type { ToldTools } from "./told-tools.ts";

const REPLY_TTL_MS = 60_000;
const REPLY_TIMEOUT_MS = 10_000;

export interface ManageServersOptions {
  readonly identity: Pick<Identity, "senderOf">;
  /** Answers who wants to add or remove a server. */
  readonly requests: Pick<ServerRequests, "register" | "unregister">;
  readonly meter: Pick<MessageMeter, "take" | "takeExtra" | "drop">;
  readonly tools: ToldTools;
  readonly log: Logger;
}

/** A request that is understood, and how it is answered. */
interface Exchange<Request extends MessageName, Response extends MessageName> {
  readonly request: Request;
  readonly response: Response;
  answer(
    request: Decoded<Messages[Request]>,
    message: Envelope,
    sender: ReturnType<Identity["senderOf"]>,
  ): Messages[Response] | Promise<Messages[Response]>;
  /** The answer to a request that is one too many. */
  refuse(serverName: string, error: string): Messages[Response];
}

/**
 * Answers what agents ask about single servers on `mcp.manage`. A request that names no topic of its sender for answers
 * is dead-lettered, one of an unknown type passed over.
 */
export async function manageServers(
  bus: Bus,
  pool: ServerPool,
  { identity, requests, meter, tools, log }: ManageServersOptions,
): Promise<AsyncDisposable> {
  const exchanges = exchangesOver(pool, { requests, tools });
  return bus.subscribe({ name: MCP_MANAGE_SUBSCRIPTION, topics: [mcpTopics.manage], ...METERED }, async (message) => {
    const { replyTo, correlationId, source: destination, type } = message;
    const sender = identity.senderOf(message);
    const caller = callerOf(message, sender);
    const waitMs = meter.take("manage", caller, message.body.byteLength);
    if (waitMs !== undefined && !meter.takeExtra("refusal", caller)) return meter.drop("manage", caller);
    if (replyTo === undefined || sender.mayHear?.(replyTo) !== true) {
      if (!meter.takeExtra("unanswerable", caller)) return meter.drop("unanswerable", caller);
      throw new DeadLetterError("the request names no topic that an answer to its sender may go to");
    }
    const exchange = exchanges.find(({ request }) => messages[request].type === type);
    if (exchange === undefined)
      return log.warn({ type: type.slice(0, 80) }, "ignored a request about MCP servers of an unknown type");
    const { response, body } =
      waitMs === undefined ? await exchange.answer(message, sender) : exchange.refuse(message, tooMany(waitMs));
    const headers = { [Header.ContentTrust]: "tool-output", [Header.ToolProvider]: "mcp" };
    const reply = createEnvelope({
      topic: replyTo,
      type: messages[response].type,
      source: MCP_BRIDGE,
      destination,
      correlationId,
      ttlMs: REPLY_TTL_MS,
      body,
      headers,
    });
    await bus.publish(reply, { timeoutMs: REPLY_TIMEOUT_MS });
  });
}

const tooMany = (waitMs: number): string =>
  `too many requests about MCP servers: try again in ${Math.ceil(waitMs / 1_000)} s`;

function exchangesOver(pool: ServerPool, { requests, tools: told }: Pick<ManageServersOptions, "requests" | "tools">) {
  return [
    exchange({
      request: "McpGetServiceDetailsRequest",
      response: "McpGetServiceDetailsResponse",
      answer(request, _, sender) {
        if (!request.ok) return { serverName: nameIn(request), tools: [], error: request.fault.message };
        const { serverName } = request.value;
        const server = pool.find(serverName);
        const usable = server === undefined || "refusal" in sender ? [] : told(sender, server);
        if (!server?.isHeard || (usable.length === 0 && server.tools.length > 0))
          return { serverName, tools: [], error: `${serverName}: not connected` };
        const tools = usable.map(({ name, description, inputSchema }) => ({
          name,
          description,
          parametersSchema: JSON.stringify(inputSchema),
        }));
        return { serverName: server.name, tools, error: null };
      },
      refuse: (serverName, error) => ({ serverName, tools: [], error }),
    }),
    exchange({
      request: "McpRegisterServerRequest",
      response: "McpRegisterServerResponse",
      async answer(request, message) {
        const serverName = nameIn(request);
        const outcome = await requests.register(request, message);
        return "summary" in outcome
          ? { serverName, success: true, summary: outcome.summary, error: null }
          : { serverName, success: false, summary: null, ...outcome };
      },
      refuse: (serverName, error) => ({
        serverName,
        success: false,
        summary: null,
        error,
        code: ToolErrorCode.RateLimited,
      }),
    }),
    exchange({
      request: "McpUnregisterServerRequest",
      response: "McpUnregisterServerResponse",
      async answer(request, message) {
        const failure = await requests.unregister(request, message);
        return { serverName: nameIn(request), success: failure === undefined, error: null, ...failure };
      },
      refuse: (serverName, error) => ({ serverName, success: false, error, code: ToolErrorCode.RateLimited }),
    }),
  ];
}

/** Hides which messages an exchange is about. */
function exchange<Request extends MessageName, Response extends MessageName>({
  request,
  response,
  answer,
  refuse,
}: Exchange<Request, Response>) {
  return {
    request,
    response,
    refuse: (message: Envelope, error: string): { readonly response: Response; readonly body: Uint8Array } => {
      const decoded = decodeMessage(request, message.body) as Decoded<{ readonly serverName: string }>;
      return { response, body: encodeMessage(response, refuse(nameIn(decoded), error)) };
    },
    answer: async (
      message: Envelope,
      sender: ReturnType<Identity["senderOf"]>,
    ): Promise<{ readonly response: Response; readonly body: Uint8Array }> => ({
      response,
      body: encodeMessage(response, await answer(decodeMessage(request, message.body), message, sender)),
    }),
  };
}

/** The server that a request is about, also if it cannot be read otherwise. */
function nameIn(request: Decoded<{ readonly serverName: string }>): string {
  const { serverName } = (request.ok ? request.value : (request.fault.value ?? {})) as { serverName?: unknown };
  return typeof serverName === "string" ? serverName.slice(0, 256) : "unknown";
}
