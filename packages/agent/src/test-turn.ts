import { newId, type ToolDefinition, type Validator } from "@rockbot/contracts";
import { defineTool, type Tool, type ToolCallContext, type ToolResult } from "@rockbot/tools";
import type { TurnRequest } from "./words/turn.ts";

type Run = (
  input: Readonly<Record<string, unknown>>,
  context: ToolCallContext,
) => Promise<string | ToolResult<unknown>>;

/** A tool for tests that takes any arguments. */
export function testTool(name: string, run: Run, promises: Partial<ToolDefinition> = {}): Tool {
  const definition: ToolDefinition = {
    name,
    description: `The tool ${name}, for tests.`,
    inputSchema: { type: "object" },
    readOnly: false,
    idempotent: false,
    validateInput: ((value: unknown) => typeof value === "object") as Validator<unknown>,
    ...promises,
  };
  return defineTool(definition, run as Parameters<typeof defineTool>[1]);
}

/** A turn of the agent itself, of a new session. */
export const testRequest = (message: string, more: Partial<TurnRequest> = {}): TurnRequest => ({
  caller: "agent",
  sessionId: newId(),
  turnId: newId(),
  message,
  signal: new AbortController().signal,
  deadline: performance.now() + 60_000,
  ...more,
});
