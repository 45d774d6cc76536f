import type { HttpBindings } from "@hono/node-server";
import type { OperatorRight as Right, Operator as ShownOperator, OperatorSight as Sight } from "@rockbot/console/api";
import { findGlob } from "@rockbot/policy";
import type { Operator } from "../door/operator.ts";
import type { See } from "./see.ts";

/** Rights of an operator. */
export const OperatorRight = {
  Read: "read",
  /** The right to cancel calls. */
  Cancel: "cancel",
  /** Calls of tools, as one of the callers that the operator speaks for. */
  Call: "call",
  /** What waits for somebody's approval. */
  Decide: "decide",
  /** Dead letters: to list, replay and purge them. */
  Letters: "letters",
  /** MCP servers and the definitions of their tools. */
  Servers: "servers",
} as const satisfies Record<string, Right>;

/** What an operator may read that belongs to others. */
export const OperatorSight = {
  Arguments: "arguments",
  Results: "results",
  Transcripts: "transcripts",
  Memory: "memory",
} as const satisfies Record<string, Sight>;

/** Finds in each request who sends it. */
export interface OperatorBindings extends HttpBindings {
  readonly operator: Operator;
  /** Asked before each reading of what belongs to others. */
  readonly see: See;
}

/** An app that answers requests of operators who are known, and may send them. */
export interface OperatorHttpApp {
  fetch(request: Request, env: OperatorBindings): Response | Promise<Response>;
}

/** The operator that an entry of the policy makes. */
export const createOperator = ({ name, may, speaksFor, sees }: ShownOperator): Operator => ({
  name,
  may: new Set(may),
  sees: new Set(sees),
  callers: speaksFor,
});

/** The operator who has started the process, and reaches it by what nobody else can open: it has all rights. */
export const ownerNamed = (name: string): Operator =>
  createOperator({ name, may: Object.values(OperatorRight), speaksFor: ["*"], sees: Object.values(OperatorSight) });

/** Tells whether the operator may call tools as this caller, if it may call any. */
export const speaksFor = ({ callers }: Operator, caller: string): boolean => findGlob(callers, caller) !== undefined;

/** An operator in JSON. */
export const shownOperator = ({ name, may, sees, callers }: Operator): ShownOperator => ({
  name,
  may: [...may],
  speaksFor: callers,
  sees: [...sees],
});
