import type { OperatorRight as Right } from "@rockbot/console/api";

/** Rights of an operator. What is none of these is for all operators. */
export const OperatorRight = {
  Read: "read",
  /** The right to cancel calls. */
  Cancel: "cancel",
  /** Calls of tools, as the gateway's own agent. */
  Call: "call",
  /** Dead letters: to list, replay and purge them. */
  Letters: "letters",
  /** MCP servers and the definitions of their tools. */
  Servers: "servers",
} as const satisfies Record<string, Right>;

/** The rights of each operator of the policy. */
export const POLICY_RIGHTS: readonly Right[] = [OperatorRight.Read, OperatorRight.Letters, OperatorRight.Servers];
