// The policy as it is now, and what it says.

export type { ApprovalRule, Decision, RateLimit, Use } from "./decision.ts";
export type { ArgumentRule } from "./document/argument-rules.ts";
export { entries } from "./document/document-place.ts";
export { policyNotes } from "./document/policy-notes.ts";
export { ANY } from "./facets/credentials.ts";
export type { Facet } from "./facets/facet.ts";
export { facets, type Readers, type ServiceFacet } from "./facets/index.ts";
export type { MessageKind } from "./facets/messages.ts";
export { forScript } from "./for-script.ts";
export type { PolicyCaller, PolicyDocument, PolicyRule, PolicyService, PolicyToken } from "./generated/policy.ts";
export { type Bound, FROM_BEFORE, readGrant } from "./grant.ts";
export { holdPolicy, type OpenPolicyOptions, openPolicy, type PolicyHolder } from "./open-policy.ts";
export { createPolicy, mayOwnServers, type Policy } from "./policy.ts";

// To read one without watching it.

export { defaultPolicySource, type PolicySource, readPolicy } from "./document/read-policy.ts";

// Users of the bus, and their rights there.

export { type BusRights, busRights } from "./bus-rights.ts";
export { type Delegate, delegatesOf } from "./delegates.ts";
export { mayUseSome } from "./may-use-some.ts";
export { type Peers, peersOf } from "./peers.ts";
export { callerTokens, operatorTokens, type TokenHolders } from "./token-holders.ts";
export { findGlob } from "./tool-glob.ts";

// For schemas that others write.

export { schemaCompiler } from "./document/compile-schema.ts";
export type { CompilerOptions } from "./document/create-ajv.ts";

// For people.

export { policyTable } from "./policy-table.ts";
