import { expect, test } from "vitest";
import { mcpGetServiceDetails } from "./mcp-get-service-details.ts";

test.each([
  ['{"type":"object"}', { type: "object" }],
  [null, {}],
  ["type: object", "type: object"], // of a bridge of another make
])("a schema that a bridge gives as %j is shown as %j", async (parametersSchema, parameters) => {
  const summary = { serverName: "one", summary: "one" };
  const index = {
    servers: [summary],
    find: () => summary,
    mayUse: () => true,
    mayUseSome: () => true,
    isAwaited: () => false,
  };
  const management = { details: async () => [{ name: "echo", description: "Echoes.", parametersSchema }] };
  const tool = mcpGetServiceDetails(
    () => index,
    management as never,
    () => ({ level: "untrusted", origin: "mcp:one" }),
  );
  const request = { toolCallId: "1", toolName: "mcp_get_service_details" };
  const { content } = await tool.executor.execute(request, {
    input: { server_name: "one" },
    deadline: 0,
    caller: "a",
  } as never);
  expect(JSON.parse(content ?? "")).toEqual([{ name: "echo", description: "Echoes.", parameters }]);
});
