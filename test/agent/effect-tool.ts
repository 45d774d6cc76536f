import { defineTool, type Tool } from "@rockbot/tools";

/** A tool that may not run twice: `effect` does what it is given to do. */
export function effectTool(run: (callId: string, what: string) => Promise<void> | void): Tool {
  const validateInput = Object.assign(
    (value: unknown): value is { what: string } => typeof (value as { what?: unknown }).what === "string",
    { errors: null },
  );
  const inputSchema = { type: "object", properties: { what: { type: "string" } }, required: ["what"] };
  const definition = {
    name: "effect",
    description: "Has an effect, for tests.",
    inputSchema,
    readOnly: false,
    idempotent: false,
    validateInput,
  };
  return defineTool(definition, async ({ what }, { toolCallId }) => {
    await run(toolCallId, what);
    return `did ${what}`;
  });
}
