import {
  describeFaults,
  faultsText,
  parseArguments,
  type ToolDefinition,
  ToolError,
  ToolErrorCode,
} from "@rockbot/contracts";
import type { ToolLayer } from "../define/tool-executor.ts";

/**
 * Parses the arguments and checks them against the tool's schema; all faults in one `invalid_arguments`, none of them
 * executed.
 */
export function validate(definition: ToolDefinition): ToolLayer {
  return (next) => ({
    execute(request, context) {
      const given = readArguments(definition.name, request.arguments);
      const input: unknown = definition.validateInput(given) ? given : (definition.mendInput?.(given) ?? given);
      if (!definition.validateInput(input)) {
        const { trust } = definition; // the faults name what its schema does
        const faults = describeFaults(definition.validateInput, definition.inputSchema, input);
        throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot call "${definition.name}": ${faultsText(faults)}`, {
          details: { faults },
          trust,
        });
      }
      return next.execute(request, {
        ...context,
        toolCallId: request.toolCallId,
        sessionId: request.sessionId ?? undefined,
        input,
      });
    },
  });
}

function readArguments(toolName: string, text: string | null | undefined): Record<string, unknown> {
  if (text === undefined || text === null || text.trim() === "") return {};
  const parsed = parseArguments(text);
  if (!parsed.ok)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot call "${toolName}": the arguments are ${parsed.fault.message}; expected a JSON object`,
    );
  if (typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value)) {
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot call "${toolName}": the arguments are ${kindOf(parsed.value)}; expected a JSON object`,
    );
  }
  return parsed.value as Record<string, unknown>;
}

const kindOf = (value: unknown): string =>
  Array.isArray(value) ? "an array" : value === null ? "null" : `a ${typeof value}`;
