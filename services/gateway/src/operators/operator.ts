/** Rights of an operator. What is none of these is for all operators. */
export const OperatorRight = {
  Read: "read",
  /** Of calls. */
  Cancel: "cancel",
  /** Calls of tools, as the gateway's own agent. */
  Call: "call",
  /** Dead letters: to list, replay and purge them. */
  Letters: "letters",
  /** MCP servers and the definitions of their tools. */
  Servers: "servers",
} as const;
export type OperatorRight = (typeof OperatorRight)[keyof typeof OperatorRight];

/** Who looks after the running system, and by which rights. */
export interface Operator {
  readonly name: string;
  readonly may: readonly OperatorRight[];
}

/** The rights of each operator of the policy. */
export const POLICY_RIGHTS: readonly OperatorRight[] = [
  OperatorRight.Read,
  OperatorRight.Letters,
  OperatorRight.Servers,
];
