import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { createPolicy, holdPolicy, type PolicyHolder, readPolicy } from "@rockbot/policy";
import { defineTool, type Tool, type ToolCallContext, type ToolResult } from "./define/define-tool.ts";
import type { ToolSet } from "./define/tool-set.ts";

/** A tool for tests that takes any arguments. */
export function testTool(
  name: string,
  run: (input: unknown, context: ToolCallContext) => Promise<string | ToolResult<unknown>>,
  promises: Partial<ToolDefinition> = {},
): Tool {
  const definition: ToolDefinition = {
    name,
    description: `The tool ${name}, for tests.`,
    inputSchema: { type: "object" },
    readOnly: false,
    idempotent: false,
    validateInput: ((value: unknown) => typeof value === "object") as Validator<unknown>,
    ...promises,
  };
  return defineTool(definition, run);
}

export function testSet(...tools: Tool[]): ToolSet {
  return {
    tools,
    guides: [{ name: "tests", summary: "How the tests' tools are used.", document: "# Tests\n\nCall them." }],
  };
}

/** A policy that the text says, and that never changes. */
export async function testPolicy(text: string): Promise<PolicyHolder> {
  return holdPolicy(createPolicy(await readPolicy(text, "test")));
}

/** A tool that holds its calls until they are let go. */
export function heldTool(name: string, promises: Partial<ToolDefinition> = {}) {
  const running: {
    readonly caller: string;
    readonly input: unknown;
    readonly context: ToolCallContext;
    end(text?: string): void;
  }[] = [];
  let count = 0;
  const tool = testTool(
    name,
    (input, context) => {
      count++;
      return new Promise<string>((resolve, reject) => {
        const call = { caller: context.caller, input, context, end: (text = "ended") => leave(() => resolve(text)) };
        const leave = (settle: () => void) => {
          running.splice(running.indexOf(call), 1);
          settle();
        };
        running.push(call);
        context.signal.addEventListener("abort", () => leave(() => reject(context.signal.reason)), { once: true });
      });
    },
    promises,
  );
  return {
    tool,
    /** The calls that run, oldest first. */
    running,
    /** How many were started. */
    get count() {
      return count;
    },
    endAll(): void {
      for (const call of [...running]) call.end();
    },
  };
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
