import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import * as z from "zod";

/** The same tools as the newer server has, on the older SDK. */
export function legacyServer(): McpServer {
  const server = new McpServer({ name: "legacy", version: "1.0.0" }, { instructions: "Made for tests." });
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  server.registerTool(
    "echo",
    { description: "Echoes.", inputSchema: z.looseObject({}), annotations: { readOnlyHint: true } },
    async (input) => text(JSON.stringify(input)),
  );
  server.registerTool(
    "sum",
    { description: "Adds.", inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    async ({ a, b }) => ({
      ...text(String(a + b)),
      structuredContent: { sum: a + b },
    }),
  );
  server.registerTool("count", { description: "Counts, with progress." }, async ({ _meta, sendNotification }) => {
    const progressToken = _meta?.progressToken;
    for (let progress = 1; progress <= 3 && progressToken !== undefined; progress++)
      await sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress, total: 3, message: `step ${progress}` },
      });
    return text("counted");
  });
  server.registerTool("wait", { description: "Waits to be cancelled." }, async ({ signal }) => {
    if (!signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    cancelledWaits++;
    return text("cancelled");
  });
  server.registerTool("waits", { description: "How many waits were cancelled." }, async () =>
    text(String(cancelledWaits)),
  );
  server.registerTool("meta", { description: "What came beside the arguments." }, async ({ _meta }) =>
    text(JSON.stringify(_meta ?? {})),
  );
  server.registerTool("fail", { description: "Reports a failure of its own." }, async () => ({
    ...text("no luck"),
    isError: true,
  }));
  server.registerTool("grow", { description: "Adds a tool." }, async () => {
    server.registerTool("grown", { description: "Came later." }, async () => text("grown"));
    return text("done");
  });
  return server;
}

let cancelledWaits = 0;
