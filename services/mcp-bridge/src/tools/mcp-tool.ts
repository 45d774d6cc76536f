import { announcedMcpName, definedBy, saidBy, type ToolDefinition } from "@rockbot/contracts";
import { busOutput, isRepeatable, type McpTool, mendArguments, validatorOf } from "@rockbot/mcp";
import { defineTool, type Tool } from "@rockbot/tools";
import type { BridgedServer, BridgedServerOptions } from "../bridged-server.ts";
import { keepBlocks } from "./keep-blocks.ts";

/** How long an agent keeps chunks of a result, and how long they are at least: as where a tool says nothing of them. */
const CHUNKS = { keptSeconds: 20 * 60, minLength: 20_000 };

/**
 * From when on results are kept in chunks by an agent, and how long results are kept here; of a server whose
 * annotations are trusted, those of read-only tools.
 */
export type McpToolOptions = Pick<BridgedServerOptions, "cacheMs" | "maxResultChars">;

/** One tool of an MCP server as a tool of the bus. Its results are labelled as a stranger's. */
export function mcpTool(
  server: BridgedServer,
  tool: McpTool,
  { cacheMs = 0, maxResultChars: threshold }: McpToolOptions = {},
): Tool {
  const isTrusted = server.trustsAnnotations;
  const mayKeep = cacheMs > 0 && (!isTrusted || tool.annotations.readOnly);
  const name = announcedMcpName(server.name, tool.name);
  const definition: ToolDefinition<Record<string, unknown>, Record<string, unknown>> = {
    name,
    title: tool.title,
    description:
      tool.description === ""
        ? `The tool "${tool.name}" of the MCP server "${server.name}", which does not describe it.`
        : tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema && busOutput(tool.outputSchema, name),
    trust: definedBy(`mcp:${server.name}`, tool.isApproved === true),
    readOnly: isTrusted && tool.annotations.readOnly,
    idempotent: isRepeatable(tool, isTrusted),
    ...(mayKeep ? { cacheSeconds: cacheMs / 1_000 } : {}),
    ...(threshold === undefined
      ? {}
      : {
          resultSize: {
            threshold,
            chunkLength: Math.max(threshold, CHUNKS.minLength),
            keptSeconds: CHUNKS.keptSeconds,
          },
        }),
    validateInput: validatorOf(tool.inputSchema),
    mendInput: (input) => mendArguments(tool.inputSchema, input),
  };
  const origin = `mcp:${server.name}`;
  return defineTool(
    definition,
    async (input, { deadline, signal, progress, ask, canAsk, handle, noteHandle, withoutPlace, files, log }) => {
      const { content, structured, isError } = await server.callTool(tool, input, {
        timeoutMs: deadline - performance.now(),
        signal,
        onProgress: progress,
        ask: canAsk
          ? ({ message, schema, key }) => ask({ message, schema, validate: validatorOf(schema), origin, key })
          : undefined,
        task: { id: handle, note: noteHandle, wait: withoutPlace },
      });
      return { content, structured: await keepBlocks(structured, { files, log }), isError, trust: saidBy(origin) };
    },
    { asks: true, leavesPlace: true, dropHandle: (taskId) => server.cancelTask(taskId) },
  );
}
