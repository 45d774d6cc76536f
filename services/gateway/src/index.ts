// To run the front door.

// Ids of calls that have a key of their client's choice.
export { callIdOf } from "./call-headers.ts";
export { checkGatewayConfig } from "./check-gateway-config.ts";
export { type Gateway, type OperatorParts, type StartGatewayOptions, startGateway } from "./gateway.ts";
// To serve the same protocol elsewhere, such as on a unix socket.
export { createGatewayApp, type GatewayAppOptions } from "./gateway-app.ts";
export { configSchema, type GatewayConfig } from "./generated/config.ts";
export { type HttpApp, serveHttp } from "./http-server.ts";
// What is for operators, behind their tokens or a socket of their own.
export { CALLS_PATH, createCallsApp, MAX_LISTED_CALLS } from "./operator-calls.ts";
export { OPERATOR_PATH } from "./operator-door.ts";
export { createPolicyApp, POLICY_PATH } from "./operator-policy.ts";
export { noSuchOperatorPath, operatorRoutes } from "./operator-routes.ts";
export { RefusalLog } from "./refusal-log.ts";
