import { acceptedContent, fromJsonSchema, inputRequired, McpServer } from "@modelcontextprotocol/server";

/** Tools that show each feature of the protocol, on a server of the newer SDK. `extra` are names of further tools. */
export function modernServer(extra: readonly string[] = []): McpServer {
  const server = new McpServer({ name: "modern", version: "1.0.0" }, { instructions: "Made for tests." });
  const anything = fromJsonSchema<Record<string, unknown>>({ type: "object" });
  server.registerTool(
    "echo",
    { description: "Echoes.", inputSchema: anything, annotations: { readOnlyHint: true } },
    async (input) => ({
      content: [{ type: "text", text: JSON.stringify(input) }],
    }),
  );
  server.registerTool(
    "sum",
    {
      description: "Adds.",
      inputSchema: fromJsonSchema<{ a: number; b: number }>({
        type: "object",
        required: ["a", "b"],
        properties: { a: { type: "number" }, b: { type: "number" } },
      }),
      outputSchema: fromJsonSchema<{ sum: number }>({
        type: "object",
        required: ["sum"],
        properties: { sum: { type: "number" } },
      }),
    },
    async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  server.registerTool(
    "count",
    { description: "Counts, with progress.", inputSchema: anything },
    async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken;
      for (let progress = 1; progress <= 3 && progressToken !== undefined; progress++)
        await mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken, progress, total: 3, message: `step ${progress}` },
        });
      return { content: [{ type: "text", text: "counted" }] };
    },
  );
  server.registerTool(
    "wait",
    { description: "Waits to be cancelled.", inputSchema: anything },
    async (_, { mcpReq: { signal } }) => {
      if (!signal.aborted)
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      cancelledWaits++;
      return { content: [{ type: "text", text: "cancelled" }] };
    },
  );
  server.registerTool("waits", { description: "How many waits were cancelled.", inputSchema: anything }, async () => ({
    content: [{ type: "text", text: String(cancelledWaits) }],
  }));
  server.registerTool(
    "meta",
    { description: "What came beside the arguments.", inputSchema: anything },
    async (_, { mcpReq }) => ({
      content: [{ type: "text", text: JSON.stringify(mcpReq._meta ?? {}) }],
    }),
  );
  addOrder(server, anything);
  server.registerTool("fail", { description: "Reports a failure of its own.", inputSchema: anything }, async () => ({
    content: [{ type: "text", text: "no luck" }],
    isError: true,
  }));
  server.registerTool("grow", { description: "Adds a tool to this connection.", inputSchema: anything }, async () => {
    server.registerTool("grown", { description: "Came later.", inputSchema: anything }, async () => ({ content: [] }));
    return { content: [{ type: "text", text: "done" }] };
  });
  for (const name of extra)
    server.registerTool(name, { description: "Came later.", inputSchema: anything }, async () => ({ content: [] }));
  return server;
}

let cancelledWaits = 0;

/** A tool that asks a person before it does anything. */
function addOrder(server: McpServer, inputSchema: ReturnType<typeof fromJsonSchema<Record<string, unknown>>>): void {
  server.registerTool("order", { description: "Asks how many.", inputSchema }, async (_, { mcpReq }) => {
    const answer = acceptedContent<{ count: number }>(mcpReq.inputResponses, "count");
    if (answer !== undefined) {
      return { content: [{ type: "text", text: `ordered ${answer.count}, ${String(mcpReq.requestState())}` }] };
    }
    const requestedSchema = {
      type: "object" as const,
      properties: { count: { type: "number" as const } },
      required: ["count"],
    };
    return inputRequired({
      inputRequests: { count: inputRequired.elicit({ message: "How many?", requestedSchema }) },
      requestState: "as it was",
    });
  });
}
