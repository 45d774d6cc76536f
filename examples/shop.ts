import { type Bus, defineTool, serveTools } from "rockbot";
import { toolDefinition } from "rockbot/json-schema";

const definition = toolDefinition<{ readonly item: string }>({
  name: "stock_of",
  description: "Say how many of an item the shop has.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["item"],
    properties: { item: { type: "string" } },
  },
  readOnly: true,
});

/** A service with one tool, whose answer no model can guess. */
export async function startShop(bus: Bus): Promise<AsyncDisposable & { readonly calls: number }> {
  let calls = 0;
  const stockOf = defineTool(definition, async ({ item }) => {
    calls++;
    return `The shop has 4217 of ${item}.`;
  });
  const service = await serveTools(bus, { tools: [stockOf] }, { service: "shop" });
  return {
    get calls() {
      return calls;
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
