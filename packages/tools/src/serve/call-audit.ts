import { trace } from "@opentelemetry/api";
import {
  type Envelope,
  hasReadUntrusted,
  ToolError,
  ToolErrorCode,
  type ToolInvokeRequest,
  type ToolInvokeResponse,
} from "@rockbot/contracts";
import type { Decision } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import type { Sender } from "../messages/identity.ts";

export interface CallAuditOptions {
  /** Where a line is written for each call. */
  readonly audit: AuditLog | undefined;
  /** True to refuse calls while no lines can be written. */
  readonly isRequired: boolean;
  readonly service: string;
}

/** How a call ended, or why it was not answered here. */
export type CallOutcome = ToolInvokeResponse | ToolError | "superseded" | "parked" | "dead_lettered";

/** The notes on one delivery of a call. */
export interface CallEntry {
  /** Why the call is not to be run: no line could be written of it. */
  refusal(): ToolError | undefined;
  /** Writes the line, before the answer is sent: see AuditLog.write. Undefined if there is nothing to wait for. */
  end(
    ids: Pick<ToolInvokeRequest, "toolCallId" | "toolName">,
    outcome: CallOutcome,
    decision?: Decision,
  ): Promise<void> | undefined;
}

const UNAUDITED: CallEntry = { refusal: () => undefined, end: () => undefined };

/** Makes an entry for each delivery of a call to a service: one that is delivered twice has two lines. */
export function createCallAudit({ audit, isRequired, service }: CallAuditOptions) {
  /**
   * @param args the arguments' text; undefined if the message is no call that can be read
   * @param receivedAt on the clock of `performance.now()`
   */
  return (
    message: Envelope,
    { caller, operator }: Pick<Sender, "caller" | "operator">,
    args: string | undefined,
    receivedAt: number,
  ): CallEntry => {
    if (audit === undefined) return UNAUDITED;
    return {
      refusal() {
        if (!isRequired || audit.isWriting) return undefined;
        return new ToolError(
          ToolErrorCode.Unavailable,
          `The call was not started: "${service}" keeps an audit log, cannot write to it now, and runs no call without. Try again later.`,
        );
      },
      end({ toolCallId, toolName }, outcome, decision) {
        return audit.write({
          service,
          caller,
          operator,
          tool: toolName,
          toolCallId,
          arguments: args ?? message.body,
          decision: decision === undefined ? "none" : decision.isAllowed ? "allowed" : "denied",
          policy: decision?.revision,
          hasReadUntrusted: hasReadUntrusted(message) || undefined,
          outcome: outcomeOf(outcome),
          durationMs: Math.round((performance.now() - receivedAt) * 1000) / 1000,
          traceId: trace.getActiveSpan()?.spanContext().traceId,
        });
      },
    };
  };
}

function outcomeOf(outcome: CallOutcome): string {
  if (typeof outcome === "string") return outcome;
  if (outcome instanceof ToolError) return outcome.code;
  return outcome.isError === true ? "tool_error" : "ok";
}
