import { ToolError } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { type Approval, type OperatorApprovals, readDecision } from "@rockbot/trust";
import type { OperatorHttpApp } from "../operators/operator.ts";
import { noSuchOperatorPath } from "../operators/operator-routes.ts";

// Here an operator decides which tools strangers may offer, and which servers agents may have. That goes by a socket or
// an operator's token, and over the bus only as a command that the gateway has signed.

/** Where an operator reads how MCP servers stand, and decides. */
export const MCP_PATH = "/operator/mcp";
/** `GET` has what waits; `POST` of a part of it, or of what is rejected, approves exactly that. */
export const APPROVALS_PATH = `${MCP_PATH}/approvals`;
/** `GET` has what is rejected; `POST` of a part of what waits rejects exactly that. */
export const REJECTIONS_PATH = `${MCP_PATH}/rejections`;
/** `GET` has the servers that agents have registered. */
export const REGISTRATIONS_PATH = `${MCP_PATH}/registrations`;
/** `POST` of servers that are registered takes them away. */
export const REMOVALS_PATH = `${MCP_PATH}/removals`;

const MAX_BODY_BYTES = 1024 * 1024;

type Answers = Readonly<Record<string, (body: Approval) => Promise<object>>>;

/**
 * The requests of the page Servers, and of `rockbot mcp approve`, `reject` and `remove`.
 * @param approvalsOf gives the decisions that an operator makes, by its name
 */
export function createApprovalsApp(approvalsOf: (operator: string) => OperatorApprovals): OperatorHttpApp {
  const answersOf = (by: string, approvals = approvalsOf(by)): Answers => ({
    [`GET ${APPROVALS_PATH}`]: () => approvals.waiting(),
    [`POST ${APPROVALS_PATH}`]: (decided) => approvals.approve(decided, by),
    [`GET ${REJECTIONS_PATH}`]: () => approvals.rejected(),
    [`POST ${REJECTIONS_PATH}`]: (decided) => approvals.reject(decided, by),
    [`GET ${REGISTRATIONS_PATH}`]: async () => ({ servers: await approvals.registered() }),
    [`POST ${REMOVALS_PATH}`]: ({ servers }) => approvals.remove(servers, by),
  });
  return {
    async fetch(request, { operator }) {
      const answer = answersOf(operator.name)[`${request.method} ${new URL(request.url).pathname}`];
      if (answer === undefined) return noSuchOperatorPath();
      const decided = readDecision(request.method === "GET" ? {} : objectIn(await request.text()));
      if (decided === undefined) return refusal("it does not say what is decided, as GET shows it", 400);
      try {
        return Response.json(await answer(decided));
      } catch (error) {
        if (error instanceof ToolError) return Response.json({ message: error.message }, { status: 503 });
        if (error instanceof StoreUnavailableError) return refusal(error.message, 503);
        throw error;
      }
    },
  };
}

const refusal = (why: string, status: number): Response =>
  Response.json({ message: `Cannot answer the request: ${why}` }, { status });

/** The object in a text, or one that decides nothing, which is refused. */
function objectIn(text: string): object {
  try {
    const value: unknown = text.length > MAX_BODY_BYTES ? undefined : JSON.parse(text);
    const isDecision = typeof value === "object" && value !== null && ("tools" in value || "servers" in value);
    return isDecision ? value : NOTHING;
  } catch {
    return NOTHING;
  }
}

const NOTHING = { tools: "none" };
