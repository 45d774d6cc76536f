// Whom a server answers.
export { bearerOf, createTokenCheck } from "./bearer-token.ts";
export { createFrontDoor, type FrontDoorFault, type FrontDoorOptions } from "./front-door.ts";
// Whom it has refused.
export { RefusalTally, type RefusalTallyOptions, tallyByAddress } from "./refusal-tally.ts";
// How it begins and ends.
export { type ServerAddress, type StartedServer, type StartServerOptions, startServer } from "./start-server.ts";
