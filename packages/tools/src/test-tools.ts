import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { defineTool, type Tool, type ToolResult } from "./define-tool.ts";
import type { ToolContext } from "./tool-executor.ts";
import type { ToolSet } from "./tool-set.ts";

/** A tool for tests that takes any arguments. */
export function testTool(name: string, run: (input: unknown, context: ToolContext) => Promise<string | ToolResult<unknown>>): Tool {
  const definition: ToolDefinition = {
    name,
    description: `The tool ${name}, for tests.`,
    inputSchema: { type: "object" },
    readOnly: false,
    idempotent: false,
    validateInput: ((value: unknown) => typeof value === "object") as Validator<unknown>,
  };
  return defineTool(definition, run);
}

export function testSet(...tools: Tool[]): ToolSet {
  return { tools, guides: [{ name: "tests", summary: "How the tests' tools are used.", document: "# Tests\n\nCall them." }] };
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
