import type { HttpApp } from "@rockbot/gateway";
import type { BridgeApprovals } from "@rockbot/mcp-bridge";
import { StoreUnavailableError } from "@rockbot/records";
import type { Approval, ShownServers } from "@rockbot/trust";
import { MCP_PATH } from "./operator-mcp.ts";

// Here an operator decides which tools MCP servers may offer, and which servers agents may have. That goes by a socket
// or an operator's token, never over the bus.

/** `GET` has what waits; `POST` of a part of it, or of what is rejected, approves exactly that. */
export const APPROVALS_PATH = `${MCP_PATH}/approvals`;
/** `GET` has what is rejected; `POST` of a part of what waits rejects exactly that. */
export const REJECTIONS_PATH = `${MCP_PATH}/rejections`;
/** `GET` has the servers that agents have registered. */
export const REGISTRATIONS_PATH = `${MCP_PATH}/registrations`;
/** `POST` of servers that are registered takes them away. */
export const REMOVALS_PATH = `${MCP_PATH}/removals`;

const MAX_BODY_BYTES = 1024 * 1024;
/** The log of the gateway's door names the operator whose token it was. */
const BY = "an operator";

/** The requests of `rockbot mcp approve`, `reject` and `remove`. */
export function createApprovalsApp(approvals: BridgeApprovals): HttpApp {
  const answers: Readonly<Record<string, (body: Partial<Approval>) => Promise<object> | undefined>> = {
    [`GET ${APPROVALS_PATH}`]: () => approvals.waiting(),
    [`POST ${APPROVALS_PATH}`]: ({ tools, servers }) =>
      areTools(tools) && areServers(servers) ? approvals.approve({ tools, servers }, BY) : undefined,
    [`GET ${REJECTIONS_PATH}`]: () => approvals.rejected(),
    [`POST ${REJECTIONS_PATH}`]: ({ tools = [], servers }) =>
      areTools(tools) && areServers(servers) ? approvals.reject({ tools, servers }, BY) : undefined,
    [`GET ${REGISTRATIONS_PATH}`]: async () => ({ servers: await approvals.registered() }),
    [`POST ${REMOVALS_PATH}`]: ({ servers }) => (areServers(servers) ? approvals.remove(servers, BY) : undefined),
  };
  return {
    async fetch(request) {
      const answer = answers[`${request.method} ${new URL(request.url).pathname}`];
      if (answer === undefined) return refusal("there is no such path for operators", 404);
      try {
        const given = await answer(request.method === "GET" ? {} : objectIn(await request.text()));
        return given === undefined
          ? refusal("it does not say what is decided, as GET shows it", 400)
          : Response.json(given);
      } catch (error) {
        if (error instanceof StoreUnavailableError) return refusal(error.message, 503);
        throw error;
      }
    },
  };
}

const refusal = (why: string, status: number): Response =>
  Response.json({ message: `Cannot answer the request: ${why}` }, { status });

function objectIn(text: string): Partial<Approval> {
  if (text.length > MAX_BODY_BYTES) return {};
  try {
    return (JSON.parse(text) ?? {}) as Partial<Approval>;
  } catch {
    return {};
  }
}

const areTools = (value: unknown): value is Approval["tools"] => areRecords(value, "server", "tool", "hash");
const areServers = (value: unknown): value is ShownServers => areRecords(value, "server", "digest");

function areRecords(value: unknown, ...fields: readonly string[]): boolean {
  return Array.isArray(value) && value.every((one) => fields.every((field) => typeof one?.[field] === "string"));
}
