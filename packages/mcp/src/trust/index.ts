// To keep what is known of MCP servers. A store in Redis comes from ./redis, so that only its users load the client.

export { openFileTrustStore } from "./file-trust-store.ts";
export { followStore } from "./follow-store.ts";
export { createMemoryTrustStore } from "./memory-trust-store.ts";
export type { TrustStore } from "./trust-store.ts";

// Definitions of tools: pinned, or held.

export { A2A_PINS, type HeldTool, isOthersPin, REST_PINS, type SeenTool } from "./pins/pin.ts";
export { PinBook, type PinBookOptions, type Screened } from "./pins/pin-book.ts";
export { type PinnedSource, PinnedSources, type SourceText, whyHeld } from "./pins/pinned-sources.ts";
export type { PinMode } from "./pins/screen-tools.ts";

// Servers that come while a bridge runs.

export { type RegisteredServer, type RegistrationRecord, Registrations } from "./registrations.ts";
export type { RequestedAddress, RequestedServer } from "./requested-server.ts";

// For operators.

export {
  type Approval,
  type ApprovalOutcome,
  approve,
  type RejectedTool,
  readWaiting,
  type ShownTool,
  type Waiting,
  type WaitingServer,
  type WaitingTool,
} from "./approvals.ts";
export { createToolApprovals, type ToolApprovals } from "./tool-approvals.ts";
export {
  forgetWaiting,
  type Rejected,
  type RejectedServer,
  type Rejection,
  readRegistered,
  readRejected,
  reject,
  removeServers,
  type ShownServers,
  type StandingServer,
  type WithdrawalOutcome,
} from "./withdrawals.ts";
