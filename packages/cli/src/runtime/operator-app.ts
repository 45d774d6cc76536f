import type { Bus, Logger } from "@rockbot/bus";
import {
  AGENTS_PATH,
  CALLS_PATH,
  createAgentsApp,
  createCallsApp,
  createHistoryApp,
  createOverviewApp,
  createPolicyApp,
  createToolsApp,
  createWaitingApp,
  type Further,
  HISTORY_PATH,
  type OperatorHttpApp,
  type OperatorParts,
  OVERVIEW_PATH,
  operatorRoutes,
  POLICY_PATH,
  TOOLS_PATH,
  WAITING_PATH,
} from "@rockbot/gateway";
import { createApprovalsApp, MCP_PATH } from "@rockbot/gateway/approvals";
import { AUDIT_PATH, type AuditLogs, createAuditApp } from "@rockbot/gateway/audit";
import { createDlqApp, DLQ_PATH } from "@rockbot/gateway/dlq";
import type { PolicyHolder } from "@rockbot/policy";
import type { ToolCaller } from "@rockbot/tools";
import type { OperatorApprovals } from "@rockbot/trust";
import { ownLetters } from "../own-letters.ts";

// Many because: each is a part of the process that one route of operators asks.
export interface OperatorAppParts {
  readonly bus: Bus;
  readonly caller: ToolCaller;
  /** The journals of all callers in this process. */
  readonly journals: () => readonly ToolCaller["journal"][];
  readonly policy: PolicyHolder | undefined;
  /** The figures of the gateway in this process. @default nothing is known of services' calls */
  readonly figures?: OperatorParts["figures"] | undefined;
  /** Reads what the agent keeps. @default it is not read here */
  readonly readAgent?: OperatorParts["readAgent"] | undefined;
  /** Gives the decisions of an operator. @default nobody decides here */
  readonly approvals?: ((operator: string) => OperatorApprovals) | undefined;
  /** Reads the calls that wait for people, and brings decisions. @default none are known here */
  readonly waiting?: OperatorParts["waiting"] | undefined;
  /** Reads audit logs. @default none are read here */
  readonly audits?: AuditLogs | undefined;
  /** The runs of all services, to be read. @default none are known */
  readonly runs?: OperatorParts["runs"];
  /** What else is known of the services in this process. @default nothing */
  readonly further?: (() => Promise<Further>) | undefined;
  /** Aborts when the process stops and running requests are not waited for any longer. */
  readonly signal: AbortSignal;
  readonly log: Logger | undefined;
}

/** All that operators reach in a running `rockbot up`. It asks for no token: see createDlqApp. */
export function operatorApp({
  bus,
  caller,
  journals,
  policy,
  figures,
  readAgent,
  approvals,
  waiting,
  audits,
  runs,
  further,
  signal,
  log,
}: OperatorAppParts): OperatorHttpApp {
  return operatorRoutes({
    [OVERVIEW_PATH]: createOverviewApp({
      bus,
      caller,
      policy,
      figures,
      lettersOf: ownLetters.services,
      waiting,
      further,
    }),
    ...(figures === undefined ? {} : { [HISTORY_PATH]: createHistoryApp(figures) }),
    [TOOLS_PATH]: createToolsApp(caller),
    [CALLS_PATH]: createCallsApp(journals, { runs }),
    ...(readAgent === undefined ? {} : { [AGENTS_PATH]: createAgentsApp(readAgent) }),
    [DLQ_PATH]: createDlqApp(async () => ({ bus, caller, policy, ...ownLetters }), { signal, log }),
    ...(approvals === undefined ? {} : { [MCP_PATH]: createApprovalsApp(approvals) }),
    ...(waiting === undefined ? {} : { [WAITING_PATH]: createWaitingApp(waiting, { log }) }),
    ...(audits === undefined ? {} : { [AUDIT_PATH]: createAuditApp(audits) }),
    ...(policy === undefined
      ? {}
      : { [POLICY_PATH]: createPolicyApp({ policy, knownTools: caller.knownTools, journals }) }),
  });
}
