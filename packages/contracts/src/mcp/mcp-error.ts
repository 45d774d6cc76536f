import { saidBy, withTrust } from "../foreign-words.ts";
import { type ToolError, ToolErrorCode } from "../tool-error.ts";

/**
 * An error of a bridge. One of an earlier release, or of the .NET original, does not say whether it quotes a server:
 * then it may.
 * @param isEarlier whether the bridge is known to be of an earlier release, so that each of its errors may
 */
export const mcpError = (error: ToolError, isEarlier: boolean): ToolError =>
  error.trust === undefined && (isEarlier || error.code === ToolErrorCode.ExecutionFailed)
    ? withTrust(error, saidBy("mcp"))
    : error;
