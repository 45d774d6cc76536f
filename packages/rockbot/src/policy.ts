// Who may do what, read from one file that may change meanwhile.
import type { Policy as PolicyFor, PolicyHolder as PolicyHolderFor, Readers, ServiceFacet } from "@rockbot/policy";

export { ConfigError } from "@rockbot/contracts";
export { type Decision, type OpenPolicyOptions, openPolicy } from "@rockbot/policy";

/** A policy with all that it says. */
export type Policy = PolicyFor<Readers<ServiceFacet>>;
/** The policy as its file has it now. */
export type PolicyHolder = PolicyHolderFor<Readers<ServiceFacet>>;
