// Whom a server answers.
export { bearerOf, createTokenCheck } from "./bearer-token.ts";
export { createFrontDoor, type FrontDoorFault, type FrontDoorOptions } from "./front-door.ts";
// How it begins and ends.
export { type ServerAddress, type StartedServer, type StartServerOptions, startServer } from "./start-server.ts";
