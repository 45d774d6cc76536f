import type { createGatewayApp } from "@rockbot/gateway";
import type { ToolCaller } from "@rockbot/tools";

/** Where an operator reads calls, on the socket only. */
export const CALLS_PATH = "/v1/operator/calls";
export const MAX_LISTED = 1_000;

/** Adds to the socket's protocol what `rockbot calls` asks for: the calls of all callers in this process. */
export function addCallRoutes(app: ReturnType<typeof createGatewayApp>, journals: readonly ToolCaller["journal"][]): void {
  app.get(CALLS_PATH, async (c) => {
    const limit = Math.min(Math.max(Number(c.req.query("limit")) || 1, 1), MAX_LISTED);
    const calls = (await Promise.all(journals.map((journal) => journal.recent(limit)))).flat();
    return c.json({ calls: calls.sort((a, b) => (b.steps[0]?.at ?? 0) - (a.steps[0]?.at ?? 0)).slice(0, limit) });
  });
  app.get(`${CALLS_PATH}/:toolCallId`, async (c) => {
    const found = await Promise.all(journals.map((journal) => journal.find(c.req.param("toolCallId"))));
    return c.json({ call: found.find((call) => call !== undefined) ?? null });
  });
}
