import type { AuditState, FoundLine } from "@rockbot/records/audit";
import type { CallRecord, TextDigest } from "@rockbot/records/journal";

export type { MemoryPage, MemoryText, SessionPage, Transcript, WispList } from "@rockbot/contracts";

// The answers of `/operator/…`: the gateway makes them, the page reads them.

/** A right of an operator. */
export type OperatorRight = "read" | "cancel" | "call" | "decide" | "letters" | "servers";

/** A kind of data of others that an operator may read. */
export type OperatorSight = "arguments" | "results" | "transcripts" | "memory";

/** A person who looks after the running system, with the rights of that. */
export interface Operator {
  readonly name: string;
  readonly may: readonly OperatorRight[];
  /** Patterns of the callers as which it may call tools. */
  readonly speaksFor: readonly string[];
  readonly sees: readonly OperatorSight[];
}

/** The operator who asks: `GET /operator/me`. */
export interface Me {
  readonly operator: Operator;
  /** The names of callers as which it may call tools. */
  readonly callers: readonly string[];
  readonly version: string;
}

/** One minute of the calls that services have had; the times are of those that ended in it. */
export interface CallMinute {
  /** Its beginning, Unix milliseconds. */
  readonly at: number;
  /** Null, as is `failed`, if no service said what it did. */
  readonly ended: number | null;
  readonly failed: number | null;
  /** Milliseconds; null if no call ended. */
  readonly p50: number | null;
  readonly p95: number | null;
}

/** The minutes of a day, oldest first, a value for each: see CallMinute. `GET /operator/history` */
export interface CallsOfDay {
  /** The beginning of the first, Unix milliseconds. */
  readonly from: number;
  readonly ended: readonly CallMinute["ended"][];
  readonly failed: readonly CallMinute["failed"][];
  readonly p50: readonly CallMinute["p50"][];
  readonly p95: readonly CallMinute["p95"][];
}

/** The calls of a service, over its instances. Calls that no instance took are not among them. */
export interface ServiceCalls {
  /** The rate of the last minute, as are the times. */
  readonly perSecond: number;
  /** Milliseconds; null if no call ended. */
  readonly p50: number | null;
  readonly p95: number | null;
  /** The calls that ended in the last hour. */
  readonly ended: number;
  readonly failed: number;
  /** The failed ones by their codes, the most frequent first. */
  readonly codes: Readonly<Record<string, number>>;
  /** Calls of now that have no end yet. */
  readonly inFlight: number;
  /** Age of the oldest that an instance has and has not started, in milliseconds. */
  readonly oldestMs: number;
}

/** Something that is wrong, in words for an operator. */
export interface Problem {
  readonly level: "error" | "warning";
  readonly what: string;
  /** The next step. */
  readonly next: string;
  /** The page of the console that has it. */
  readonly page?: "letters" | "servers" | "waiting";
}

/** A service that has been heard of. */
export interface ServiceState {
  readonly name: string;
  readonly instances: number;
  readonly tools: number;
  readonly state: "ready" | "gone" | "unusable";
  readonly reason?: string;
  /** The releases of its instances; empty if they do not say. */
  readonly versions: readonly string[];
  /** Calls at the broker that no instance has taken; null if that is not known. */
  readonly backlog: number | null;
  /** Null if it does not say. */
  readonly calls: ServiceCalls | null;
}

/** The state of the system: `GET /operator/overview`, and each event of `GET /operator/stream`. */
export interface Overview {
  readonly at: number;
  readonly version: string;
  readonly bus: { readonly isReady: boolean };
  readonly policy: { readonly revision: string } | null;
  readonly problems: readonly Problem[];
  readonly services: readonly ServiceState[];
  /** How many calls wait for operators, up to 200; null if that is not known. */
  readonly waiting: number | null;
  /** How MCP servers stand, where the process has them. */
  readonly servers?: readonly object[];
  /** The calls of all services; null if none says. */
  readonly calls: ServiceCalls | null;
  /** The last hour, oldest first. */
  readonly minutes: readonly CallMinute[];
}

/** The record of a call, as anybody but its caller sees it. */
export type Call = Omit<CallRecord, "blob" | "request" | "sent">;

/** A page of the calls that fit a search, the newest first: `GET /operator/calls`. */
export interface Calls {
  readonly calls: readonly Call[];
  /** True if there may be more: `cursor` says where. */
  readonly more: boolean;
  readonly cursor?: string;
  /** Redis does not answer: calls of other processes are missing. */
  readonly isPartial: boolean;
}

/** A call, and those that it led to: `GET /operator/calls/{toolCallId}`. */
export interface CallWithInner {
  readonly call: Call | null;
  /** Each after the one that made it. */
  readonly inner: readonly Call[];
  /** True if these are all. */
  readonly isWhole: boolean;
}

/** The calls that wait for operators, the oldest first: `GET /operator/waiting`. With `?brief=true` arguments are left out. */
export interface WaitingCalls {
  readonly calls: readonly WaitingCall[];
  /** True if there are more. */
  readonly more: boolean;
  /** What is missing, and why, in words. */
  readonly problems: readonly string[];
  /** True if this operator's decisions need the code that `rockbot up` has printed at its terminal. */
  readonly needsCode: boolean;
}

/** A call that waits: `GET /operator/waiting/{id}`. Its caller has chosen the id of the call, and the arguments. */
export interface WaitingCall {
  readonly id: string;
  readonly service: string;
  readonly caller: string;
  readonly toolCallId: string;
  readonly tool: string;
  /** An approval is decided about, and a question is answered. */
  readonly kind: "approval" | "question";
  /** What its tool asks a person, where it is a question. */
  readonly question?: WaitingQuestion;
  /** Who made the call as its caller. */
  readonly operator?: string;
  readonly given: TextDigest;
  /** JSON, as it is approved. Left out if the operator may not see it, or a list has become too long: then `GET` of one has it. */
  readonly arguments?: string;
  /** The same with escapes for all that is invisible, or turns text around, if there is any. */
  readonly visible?: string;
  /** Goes back with the decision, and names what was shown. There with the arguments. */
  readonly shown?: string;
  /** All of them must be fulfilled. */
  readonly asked: readonly { readonly by: readonly string[]; readonly needed: number }[];
  readonly decisions: readonly {
    readonly operator: string;
    readonly verdict: "approve" | "reject";
    readonly at: number;
    readonly note?: string;
  }[];
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** True if it waits on when its caller has left. */
  readonly isKept: boolean;
  /** True if untrusted content led to it. */
  readonly hasReadUntrusted: boolean;
  /** True, or why this operator cannot decide about it, in words. */
  readonly mayDecide: true | string;
}

/** A question of a tool to any operator with the right to decide. */
export interface WaitingQuestion {
  /** Goes back with the answer. */
  readonly hash: string;
  readonly message: string;
  /** The JSON Schema of the answer. */
  readonly schema: object;
  /** Whose words they are, such as `mcp:shop`, if they are not those of a tool of ours. */
  readonly origin?: string;
  /** What was wrong with the last answer to it, in words. */
  readonly faults?: string;
}

/** An answer to the question of a call: `POST /operator/waiting/{id}/answer`. */
export interface WaitingAnswer {
  readonly hash: string;
  readonly value: unknown;
  /** Needed where `needsCode` of the list says so. */
  readonly code?: string;
}

/** An operator's decision: `POST /operator/waiting/{id}`. */
export interface WaitingDecision {
  readonly verdict: "approve" | "reject";
  /** Names the call as it was read. */
  readonly shown: string;
  /** For the caller, if it is rejected, and for the audit log. At most 2000 characters. */
  readonly note?: string;
  /** Needed where `needsCode` of the list says so. */
  readonly code?: string;
}

/** The state of the call after a decision: `parked` if it needs further approvals. */
export interface WaitingDecided {
  readonly state: "parked" | "ready" | "running" | "ended";
}

/** Texts of a call that are kept: `GET /operator/calls/{toolCallId}/kept`. */
export interface Kept {
  readonly arguments: KeptText;
  readonly result: KeptText;
}

/** One of the texts. `not-seen` is for operators whose `sees` does not name it. */
export type KeptText =
  | {
      readonly state: "kept";
      readonly text: string;
      readonly isCut: boolean;
      readonly isRedacted: boolean;
      readonly until: number;
    }
  | { readonly state: "not-kept" | "not-seen" };

/** A tool that has been announced: `GET /operator/tools`. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
  readonly service?: string;
  readonly readOnly?: boolean;
  readonly dangerous?: boolean;
  readonly trust?: string;
}

/** A markdown document that teaches a group of tools: `GET /operator/tools/{name}/guides`. */
export interface Guide {
  readonly name: string;
  readonly summary: string;
  readonly document: string;
  readonly trust: string;
}

/** The decision of the policy in force on a caller's use of a tool. */
export interface PolicyUse {
  /** Empty for all that the policy does not name. */
  readonly caller: string;
  readonly tool: string;
  readonly isAllowed: boolean;
  readonly because: string;
  readonly isDangerous: boolean;
  /** What such a call may do, how often, and with which credentials, in words. */
  readonly bounds: readonly string[];
}

/** `GET /operator/policy`. */
export interface PolicyInForce {
  readonly revision: string;
  /** The callers that it names. */
  readonly callers: readonly string[];
  readonly uses?: readonly PolicyUse[];
  /** Uses that are left out. */
  readonly more?: number;
}

/** A policy's word on one call. It is `unknown` if it depends on something that is not known here. */
export type Verdict = "allowed" | "denied" | "unknown";

/** Calls of one caller and tool that the policy in force judges alike, and the tried one, too. */
export interface WhatIfRow {
  readonly caller: string;
  readonly tool: string;
  /** The decision by the policy in force. */
  readonly inForce: Verdict;
  /** The decision by the tried policy. */
  readonly tried: Verdict;
  /** Why the tried one says so. */
  readonly because: string;
  readonly calls: number;
  readonly newest: { readonly toolCallId: string; readonly at: number };
}

/** The answer of `POST /operator/policy/what-if`: another policy's word on the calls that were made. */
export interface WhatIf {
  /** Revisions. */
  readonly inForce: string;
  readonly proposed: string;
  /** Remarks on the tried policy. */
  readonly notes: readonly string[];
  readonly calls: number;
  /** When the oldest of them was made, in Unix milliseconds. */
  readonly since: number | null;
  readonly rows: readonly WhatIfRow[];
  /** Rows that are left out. */
  readonly more: number;
}

/** A line of an audit log, and who told of it. The fields hold texts of strangers. */
export interface AuditLine extends Omit<FoundLine, "at" | "previous"> {
  /** The service that answered; lines of other services of its process are in the same log. */
  readonly service: string;
  /** The id of the log's chain. */
  readonly log: string;
}

/** A page of the audit lines that fit a search, the newest first: `GET /operator/audit`. */
export interface AuditLines {
  readonly lines: readonly AuditLine[];
  /** True if there may be more: `cursor` says where. */
  readonly more: boolean;
  readonly cursor?: string;
  /** False if the operator may not see the hashes of arguments, which are left out then. */
  readonly hasHashes: boolean;
  /** The logs that are missing in this, and why, in words. */
  readonly problems: readonly string[];
}

/** An audit log, as a service says. */
export interface AuditLogState extends AuditState {
  /** The services that tell of it: several if they are one process. */
  readonly services: readonly string[];
}

/** The state of all audit logs: `GET /operator/audit/state`. */
export interface AuditLogs {
  readonly logs: readonly AuditLogState[];
  readonly problems: readonly string[];
}
