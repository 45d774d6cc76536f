import { encodeData, ToolError, ToolErrorCode } from "@rockbot/contracts";

/**
 * The arguments of a call as the text that crosses the bus; null if there are none.
 * @throws {ToolError} `invalid_arguments` if they cannot be written as JSON
 */
export function argumentsText(toolName: string, args: object | string | undefined): string | null {
  if (args === undefined || typeof args === "string") return args ?? null;
  try {
    return encodeData(args);
  } catch (error) {
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `Cannot call "${toolName}" with these arguments: the value ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}
