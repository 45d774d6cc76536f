import { tools } from "../generated/tools.ts";
import type { ToolAgentChatOutput, ToolInvokeResponse } from "../generated/types.ts";
import { ToolError, ToolErrorCode } from "../tool-error.ts";

/** How a turn ended. */
export interface TurnOutput {
  readonly output: ToolAgentChatOutput;
  /** True if the turn has read untrusted content. */
  readonly isUntrusted: boolean;
}

/** The end of a turn in the answer of its tool. @throws {ToolError} if there is no answer for the user */
export function readOutput({ structured, content, isError, trust }: ToolInvokeResponse): TurnOutput {
  if (!tools.agentChat.validateOutput?.(structured))
    throw failed(
      isError === true
        ? (content ?? "the agent does not say why")
        : "the agent's answer cannot be read. Is it of another version?",
    );
  const output = structured as unknown as ToolAgentChatOutput;
  if (output.finish === "failed")
    throw failed(output.reason ?? (output.text || "the agent does not say why"), output.code);
  return { output, isUntrusted: trust?.level === "untrusted" };
}

const failed = (why: string, reason?: string): ToolError =>
  new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot answer: ${why}`,
    reason === undefined ? {} : { details: { reason } },
  );
