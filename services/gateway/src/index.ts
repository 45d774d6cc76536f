// To run the front door.
export { checkGatewayConfig } from "./check-gateway-config.ts";
export { type Gateway, startGateway, type StartGatewayOptions } from "./gateway.ts";
export { configSchema, type GatewayConfig } from "./generated/config.ts";

// To serve the same protocol elsewhere, such as on a unix socket.
export { createGatewayApp, type GatewayAppOptions } from "./gateway-app.ts";
export { type HttpServer, serveHttp, type ServeHttpOptions } from "./http-server.ts";
