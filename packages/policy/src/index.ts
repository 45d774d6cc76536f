// Who is who on the bus, and may do what there.

// The policy as it is now, and what it says.
export type { ArgumentRule } from "./argument-rules.ts";
export { type BusRights, busRights } from "./bus-rights.ts";
export { entries } from "./document-place.ts";
export type { PolicyCaller, PolicyDocument, PolicyRule, PolicyService, PolicyToken } from "./generated/policy.ts";
export { mayUseSome } from "./may-use-some.ts";
export type { MessageKind } from "./message-limits.ts";
export { holdPolicy, type OpenPolicyOptions, openPolicy, type PolicyHolder } from "./open-policy.ts";
export { type Peers, peersOf } from "./peers.ts";
export { createPolicy, type Decision, type Policy, type RateLimit, type Use } from "./policy.ts";
export { policyNotes } from "./policy-notes.ts";
export { policyTable } from "./policy-table.ts";
// To read one without watching it.
export { defaultPolicySource, type PolicySource, readPolicy } from "./read-policy.ts";
export { callerTokens, operatorTokens, type TokenHolders } from "./token-holders.ts";
