// Whom a server answers.
export { addressFaults } from "./addresses.ts";
export { Admission, type AdmissionOptions, GaveWayError, NoPlaceError, type Visit } from "./admission.ts";
export { bearerOf, createTokenCheck } from "./bearer-token.ts";
export { createFrontDoor, type FrontDoorFault, type FrontDoorOptions } from "./front-door.ts";
// Whom it has refused.
export { RefusalTally, type RefusalTallyOptions, tallyByAddress } from "./refusal-tally.ts";
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
export { WaitingRoom } from "./waiting-room.ts";
