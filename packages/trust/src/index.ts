// To keep what is approved. A store in Redis comes from ./redis, so that only its users load the client.

export { openFileTrustStore } from "./store/file-trust-store.ts";
export { followStore } from "./store/follow-store.ts";
export { createMemoryTrustStore } from "./store/memory-trust-store.ts";
export { openTrust, type Trust } from "./store/open-trust.ts";
export type { TrustStore } from "./store/trust-store.ts";

// Definitions of tools: pinned, or held.

export { heldError } from "./pins/held-error.ts";
export { A2A_PINS, type HeldTool, isOthersPin, REST_PINS, type SeenTool } from "./pins/pin.ts";
export { PinBook, type Screened } from "./pins/pin-book.ts";
export { type PinnedSource, PinnedSources, type SourceText, whyHeld } from "./pins/pinned-sources.ts";
export type { PinMode } from "./pins/screen-tools.ts";
export type { SourceState } from "./pins/source-state.ts";

// Servers that come while a bridge runs.

export { type RegisteredServer, type RegistrationRecord, Registrations } from "./servers/registrations.ts";
export type { RequestedAddress, RequestedServer } from "./servers/requested-server.ts";

// For operators.

export { ApprovalCommand, approvalCommands } from "./operators/approval-commands.ts";
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
} from "./operators/approvals.ts";
export { readDecision } from "./operators/read-decision.ts";
export {
  createToolApprovals,
  type OperatorApprovals,
  type ToolApprovals,
  type ToolApprovalsOptions,
} from "./operators/tool-approvals.ts";
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
} from "./operators/withdrawals.ts";
