// The server.

export {
  letIn,
  type ServerAddress,
  SPARE_CONNECTIONS,
  type StartedServer,
  type StartServerOptions,
  type StrangerOptions,
  startServer,
  type UnreadableStatus,
} from "./start-server.ts";
export { urlHost } from "./url-host.ts";

// Whom it answers, and when.

export { addressFaults } from "./addresses.ts";
export { Admission, type AdmissionOptions, GaveWayError, NoPlaceError, type Visit } from "./admission.ts";
export { bearerOf, createTokenCheck } from "./bearer-token.ts";
export { createFrontDoor, type FrontDoorFault, type FrontDoorOptions, isLoopbackHost } from "./front-door.ts";
export { WaitingRoom } from "./waiting-room.ts";

// What it sends.

export { KEEP_ALIVE } from "./keep-alive.ts";

// Whom it has refused.

export { RefusalTally, type RefusalTallyOptions, tallyByAddress } from "./refusal-tally.ts";
