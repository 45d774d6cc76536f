// Who may do what, read from one file that may change meanwhile.
export { ConfigError } from "@rockbot/contracts";
export { type Decision, type OpenPolicyOptions, openPolicy, type Policy, type PolicyHolder } from "@rockbot/policy";
