import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { readDecision } from "./read-decision.ts";
import { shorten } from "./shorten.ts";
import type { OperatorApprovals, ToolApprovals } from "./tool-approvals.ts";

/** The kinds of commands by which operators decide. */
export const ApprovalCommand = {
  Waiting: "tools.waiting",
  Approve: "tools.approve",
  Rejected: "tools.rejected",
  Reject: "tools.reject",
  Registered: "servers.registered",
  Remove: "servers.remove",
} as const;

type Handler = (body: Readonly<Record<string, unknown>>, operator: string) => Promise<object>;

/** Obeys decisions of operators that come as signed commands. The last two kinds are for bridges alone. */
export function approvalCommands(approvals: ToolApprovals | OperatorApprovals): Readonly<Record<string, Handler>> {
  const decided = (body: object) => readDecision(body) ?? refuse();
  return {
    [ApprovalCommand.Waiting]: async () => shorten(await approvals.waiting()),
    [ApprovalCommand.Approve]: async (body, by) => approvals.approve(decided(body), by),
    [ApprovalCommand.Rejected]: async () => shorten(await approvals.rejected()),
    [ApprovalCommand.Reject]: async (body, by) => approvals.reject(decided(body), by),
    ...("registered" in approvals
      ? {
          [ApprovalCommand.Registered]: async () => shorten({ servers: await approvals.registered() }),
          [ApprovalCommand.Remove]: async (body, by) => approvals.remove(decided(body).servers, by),
        }
      : {}),
  };
}

function refuse(): never {
  throw new ToolError(
    ToolErrorCode.InvalidArguments,
    "Cannot obey the command: it does not say what is decided, as it was shown",
  );
}
