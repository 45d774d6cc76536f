// What a plugin in a package of its own builds on.

// The plugin, and the turn that it is for.

export type { NamedCall, ParentCall, TurnTool } from "./calls/turn-tools.ts";
export type { AgentHost, AgentParts, AgentPlugin, Aside, TurnScope } from "./plugins/agent-plugin.ts";

// Calls that its tools make, and what came of them.

export type { InnerCalls, PromptPart } from "./calls/inner-calls.ts";
export { SessionRights } from "./calls/session-rights.ts";
export { type Taint, taintBy, trustIn } from "./calls/stored-result.ts";

// What it keeps for callers.

export { formFault } from "./definitions/definition-faults.ts";
export { changeRefusal, hashedGrant, recordTaint } from "./records/grant.ts";
export type { KeptRecord, RecordStore } from "./records/record-store.ts";
export { saveNamed } from "./records/save-named.ts";
export { withStore } from "./records/with-store.ts";
