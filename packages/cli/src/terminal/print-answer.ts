import { errorReply, type ToolError, ToolErrorCode, type ToolInvokeResponse } from "@rockbot/contracts";
import { ExitCode } from "../exit-code.ts";
import { plainText } from "./plain-text.ts";
import { terminalText } from "./terminal-text.ts";

/** Codes that say the call was wrong, not that the tool failed: the same call again gives the same. */
const wrongUsage: ReadonlySet<string> = new Set([ToolErrorCode.ToolNotFound, ToolErrorCode.InvalidArguments]);

/** Prints the answer of a tool. @returns the exit code for it */
export function printAnswer(response: ToolInvokeResponse, asJson: boolean): ExitCode {
  const content = asJson ? JSON.stringify(response) : terminalText(response.content ?? "", process.stdout);
  process.stdout.write(content === "" || content.endsWith("\n") ? content : `${content}\n`);
  return response.isError === true ? ExitCode.Failed : ExitCode.Ok;
}

/** Prints the error of a call. @returns the exit code for it */
export function printFailure(
  error: ToolError,
  call: { readonly toolCallId: string; readonly toolName: string },
  asJson: boolean,
): ExitCode {
  if (asJson) console.log(JSON.stringify(errorReply(call, error)));
  console.error(plainText(`rockbot: ${error.code}: ${error.message}`));
  if (error.code === ToolErrorCode.Pending && error.details?.["isKept"] === true) return ExitCode.Pending;
  return wrongUsage.has(error.code) ? ExitCode.Usage : ExitCode.Failed;
}
