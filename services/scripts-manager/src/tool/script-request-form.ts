import { constants } from "node:os";
import { redactValue } from "@rockbot/base/redaction";
import {
  decodeMessage,
  encodeMessage,
  messages,
  type ScriptInvokeResponse,
  ToolError,
  ToolErrorCode,
  type ToolExecutePythonScriptInput,
  type ToolExecutePythonScriptOutput,
  type ToolInvokeResponse,
  tools,
} from "@rockbot/contracts";
import { ScriptLimit } from "@rockbot/sandbox";
import type { RequestForm } from "@rockbot/tools";
import { secondsOf } from "./seconds-of.ts";

/** How much longer than its script may run a caller of the original waits, in milliseconds. */
const CALLER_PATIENCE_MS = 10_000;
/** The code of a script that did not run, or not to its end. */
const NO_EXIT_CODE = -1;

/**
 * The ScriptInvokeRequest of the .NET original, as a call of `execute_python_script`. Its caller knows its answer by
 * the `toolCallId` in the body: there is no correlation. All that goes wrong is an answer, too, with the exit code -1
 * and the reason in `stderr`.
 */
export const scriptRequestForm: RequestForm = {
  type: messages.ScriptInvokeRequest.type,
  replyTopic: "script.result",
  read(body) {
    const decoded = decodeMessage("ScriptInvokeRequest", body);
    if (!decoded.ok) return new ToolError(ToolErrorCode.InvalidArguments, decoded.fault.message);
    const { toolCallId, script, inputData = null, timeoutSeconds, pipPackages = null } = decoded.value;
    const seconds = secondsOf(timeoutSeconds);
    const input: ToolExecutePythonScriptInput = {
      script,
      input_data: inputData,
      timeout_seconds: seconds,
      pip_packages: pipPackages,
    };
    return {
      request: {
        toolCallId,
        toolName: tools.executePythonScript.name,
        arguments: JSON.stringify(input),
        sessionId: null,
      },
      budgetMs: Math.max(0, seconds * 1_000) + CALLER_PATIENCE_MS,
    };
  },
  write({ toolCallId }, reply) {
    const response = reply instanceof ToolError ? errorReply(toolCallId, reply) : responseTo(toolCallId, reply);
    return {
      type: messages.ScriptInvokeResponse.type,
      body: encodeMessage("ScriptInvokeResponse", redactValue(response)),
    };
  },
  readReply(body, type) {
    const decoded =
      type === messages.ScriptInvokeResponse.type ? decodeMessage("ScriptInvokeResponse", body) : undefined;
    if (decoded?.ok !== true) return undefined;
    const { toolCallId, output, stderr, exitCode, isSuccess = exitCode === 0 } = decoded.value;
    const content = output ?? stderr ?? "";
    // The code of the error is lost, so another time may be better.
    if (exitCode === NO_EXIT_CODE) return new ToolError(ToolErrorCode.ExecutionFailed, content, { isRetryable: true });
    return { toolCallId, toolName: tools.executePythonScript.name, content, isError: !isSuccess };
  },
};

/** The original looks for "timed out" in `stderr`. */
function errorReply(toolCallId: string, { code, message }: ToolError): ScriptInvokeResponse {
  const stderr = code === ToolErrorCode.Timeout ? `The script timed out. ${message}` : message;
  return { toolCallId, output: null, stderr, exitCode: NO_EXIT_CODE, isSuccess: false, elapsedMs: 0 };
}

function responseTo(
  toolCallId: string,
  { content, structured, isError = false }: ToolInvokeResponse,
): ScriptInvokeResponse {
  if (!isOutput(structured))
    return errorReply(
      toolCallId,
      new ToolError(ToolErrorCode.ExecutionFailed, "The outcome of the script is not known any more."),
    );
  const { stdout, stderr, exit_code, signal, limit, duration_ms, wait_ms } = structured;
  const elapsedMs = Math.round(duration_ms + wait_ms);
  if (limit === ScriptLimit.Time)
    return { toolCallId, output: null, stderr: content ?? null, exitCode: NO_EXIT_CODE, isSuccess: false, elapsedMs };
  return {
    toolCallId,
    // Its model is shown one of the two only, and needs the traceback.
    output: textOrNull(isError ? stdout + stderr : stdout),
    stderr: limit === null ? textOrNull(stderr) : (content ?? null),
    exitCode: exit_code ?? exitCodeOf(signal),
    isSuccess: !isError,
    elapsedMs,
  };
}

const isOutput = (value: unknown): value is ToolExecutePythonScriptOutput =>
  tools.executePythonScript.validateOutput?.(value) === true;

const textOrNull = (text: string): string | null => (text === "" ? null : text);

/** As a shell has it. */
const exitCodeOf = (signal: string | null): number =>
  128 + (constants.signals[(signal ?? "SIGKILL") as NodeJS.Signals] ?? constants.signals.SIGKILL);
