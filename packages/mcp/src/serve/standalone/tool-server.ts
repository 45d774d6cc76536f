import { ProtocolError, ProtocolErrorCode, Server, type Tool } from "@modelcontextprotocol/server";
import type { Logger } from "@rockbot/bus";
import { boundedSchemaValidator } from "../../schema/bounded-schema-validator.ts";
import { runServedTool } from "./run-served-tool.ts";
import type { ServedTool, ServedTools } from "./served-tool.ts";

/** One conversation's server, of whichever protocol era the client speaks. */
export function toolServer({ name, version, instructions, tools }: ServedTools, log: Logger): Server {
  const server = new Server(
    { name, version },
    {
      capabilities: { tools: {} },
      jsonSchemaValidator: boundedSchemaValidator, // nothing is checked with it, and the default one takes milliseconds to make, for each request
      ...(instructions === undefined ? {} : { instructions }),
    },
  );
  const listed = tools.map(toTool);
  server.setRequestHandler("tools/list", async () => ({ tools: listed }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq: { signal } }) => {
    const tool = tools.find((offered) => offered.name === params.name);
    if (tool === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Unknown tool. There are: ${tools.map((offered) => offered.name).join(", ")}`,
      );
    return runServedTool(tool, params.arguments ?? {}, { signal, log });
  });
  return server;
}

const toTool = ({ name, description, inputSchema, isReadOnly }: ServedTool): Tool => ({
  name,
  description,
  inputSchema: inputSchema as Tool["inputSchema"],
  annotations: { readOnlyHint: isReadOnly, idempotentHint: isReadOnly },
});
