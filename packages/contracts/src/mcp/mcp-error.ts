import { saidBy, withTrust } from "../foreign-words.ts";
import { type ToolError, ToolErrorCode } from "../tool-error.ts";

/** An error of a bridge. One of an earlier release, or of the .NET original, does not say whether it quotes a server: then it may. */
export const mcpError = (error: ToolError): ToolError =>
  error.trust === undefined && error.code === ToolErrorCode.ExecutionFailed ? withTrust(error, saidBy("mcp")) : error;
