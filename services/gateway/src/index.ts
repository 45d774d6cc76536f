// To run the front door.

export { RefusalLog } from "./door/refusal-log.ts";
export { type Gateway, type OperatorParts, type StartGatewayOptions, startGateway } from "./gateway.ts";
export { configSchema, type GatewayConfig } from "./generated/config.ts";

// To serve the same protocol elsewhere, such as on a unix socket.

export { callIdOf, isCallId } from "./calls/call-headers.ts";
export { type RunStanding, runStanding, type ShownCall, withRun } from "./calls/run-standing.ts";
export { createGatewayApp, type GatewayAppOptions } from "./gateway-app.ts";
export { type HttpApp, serveHttp } from "./http/http-server.ts";

// Endpoints for operators, behind their tokens or a socket of their own.

export type { Operator } from "./door/operator.ts";
export { createLocalOperator, type LocalOperator } from "./operators/local-operator.ts";
export { type OperatorHttpApp, ownerNamed } from "./operators/operator.ts";
export { AGENTS_PATH, createAgentsApp } from "./operators/operator-agents.ts";
export { CALLS_PATH, createCallsApp, MAX_LISTED_CALLS } from "./operators/operator-calls.ts";
export { createHistoryApp, HISTORY_PATH } from "./operators/operator-history.ts";
export { createOverviewApp, type Further, OVERVIEW_PATH } from "./operators/operator-overview.ts";
export { createPolicyApp, POLICY_PATH } from "./operators/operator-policy.ts";
export { noSuchOperatorPath, operatorRoutes } from "./operators/operator-routes.ts";
export { createToolsApp, TOOLS_PATH } from "./operators/operator-tools.ts";
export { OPERATOR_PATH } from "./operators/operators-app.ts";
export { createSee } from "./operators/see.ts";
export { createWaitingApp, WAITING_PATH } from "./waiting/waiting-app.ts";
