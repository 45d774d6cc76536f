import type { HttpApp } from "@rockbot/gateway";
import type { BridgeApprovals } from "@rockbot/mcp-bridge";
import { type Approval, TrustStoreUnavailableError } from "@rockbot/mcp-trust";

/** Where an operator reads what waits for an approval, and approves it: on a socket or by an operator's token, never over the bus. */
export const APPROVALS_PATH = "/operator/mcp/approvals";

const MAX_BODY_BYTES = 1024 * 1024;

/** `GET /operator/mcp/approvals` has what waits; `POST` of a part of it approves exactly that. */
export function createApprovalsApp(approvals: BridgeApprovals): HttpApp {
  return {
    async fetch(request) {
      try {
        if (request.method === "GET") return Response.json(await approvals.waiting());
        if (request.method !== "POST") return refusal("there is no such path for operators", 404);
        const approval = approvalIn(await request.text());
        return approval === undefined
          ? refusal("it does not say what to approve, as GET of the same path shows it", 400)
          : Response.json(await approvals.approve(approval, "an operator"));
      } catch (error) {
        if (error instanceof TrustStoreUnavailableError) return refusal(error.message, 503);
        throw error;
      }
    },
  };
}

const refusal = (why: string, status: number): Response => Response.json({ message: `Cannot answer the request: ${why}` }, { status });

function approvalIn(text: string): Approval | undefined {
  if (text.length > MAX_BODY_BYTES) return undefined;
  try {
    const { tools, servers } = JSON.parse(text) as Partial<Approval>;
    if (!Array.isArray(tools) || !Array.isArray(servers)) return undefined;
    const areTexts = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === "string");
    const isWhole = tools.every(({ server, tool, hash }) => areTexts(server, tool, hash)) && servers.every(({ server, digest }) => areTexts(server, digest));
    return isWhole ? { tools, servers } : undefined;
  } catch {
    return undefined;
  }
}
