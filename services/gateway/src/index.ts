// To run the front door.
export { checkGatewayConfig } from "./check-gateway-config.ts";
export { type Gateway, type StartGatewayOptions, startGateway } from "./gateway.ts";
// To serve the same protocol elsewhere, such as on a unix socket.
export { createGatewayApp, type GatewayAppOptions } from "./gateway-app.ts";
export { configSchema, type GatewayConfig } from "./generated/config.ts";
export { type HttpApp, type HttpServer, type ServeHttpOptions, serveHttp } from "./http-server.ts";
