import { isRecord } from "@rockbot/base";
import { Header } from "@rockbot/contracts";

/**
 * The record of a call that may outlive its delivery: it waits for a person, or its caller does not wait for it. The
 * record stands for the message, which is acknowledged once the record is written. It is the call's claim as well.
 */
export interface Run {
  /** Names the run for operators: random, so that it says nothing of the caller's id. */
  readonly runId: string;
  readonly service: string;
  /** The effective caller. */
  readonly caller: string;
  readonly toolCallId: string;
  readonly toolName: string;
  /** The operator who made the call as its caller. */
  readonly operator?: string | undefined;
  /** The same id with another request is a conflict. */
  readonly requestHash: string;
  readonly message: RunMessage;
  readonly state: RunState;
  /** True if the run goes on when nobody waits for it any more. */
  readonly isKept: boolean;
  /** The callers that wait for the end, the oldest first. */
  readonly waiters: readonly Waiter[];
  /** Set while it waits for operators, and from then on. */
  readonly approval?: Approval | undefined;
  /** Set while it waits for a person's answer. */
  readonly question?: Question | undefined;
  /** The answers so far, in the order of their questions. */
  readonly answers?: readonly Answer[] | undefined;
  /** Times are Unix milliseconds by the store's clock. */
  readonly createdAt: number;
  /** When a run that waits ends, undecided. */
  readonly expiresAt: number;
  readonly readyAt?: number | undefined;
  /** Set when an instance without its tool has looked at it: nobody looks again before. */
  readonly lookAt?: number | undefined;
  /** The process that runs it, for as long as its lease holds. */
  readonly lease?: { readonly owner: string; readonly until: number } | undefined;
  /** How often it was taken. */
  readonly attempt: number;
  /** True from right before the tool runs. */
  readonly hasStarted: boolean;
  /** The last things that its tool said on its way, the oldest first. */
  readonly progress?: readonly RunProgress[] | undefined;
  /** What its tool goes on from in any process, such as the id of a server's task, and when that was noted first. */
  readonly handle?: { readonly text: string; readonly at: number } | undefined;
  readonly end?: RunEnd | undefined;
  /** False while the line of its end may be missing in the audit log. The request is kept so long. */
  readonly isAudited?: false | undefined;
}

/** Tells whether a person behind the caller can answer a question of its call: the call said so, and it is a flat form. */
export const asksCaller = ({ message, question }: Pick<Run, "message" | "question">): boolean =>
  message.headers[Header.Asks] === "caller" && question !== undefined && isForm(question.schema);

function isForm(schema: object): boolean {
  const { type, properties } = schema as Readonly<Record<string, unknown>>;
  return type === "object" && isRecord(properties) && Object.values(properties).every(isField);
}

const FIELDS: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean"]);
function isField(field: unknown): boolean {
  const { type, items } = isRecord(field) ? field : {};
  return FIELDS.has(type) || (type === "array" && isRecord(items) && ("enum" in items || "anyOf" in items));
}

/** How far a run has come. */
export const RunState = {
  /** Waits for people: for an approval, or for an answer. */
  Parked: "parked",
  /** Waits for an instance of its service. */
  Ready: "ready",
  Running: "running",
  Ended: "ended",
} as const;
export type RunState = (typeof RunState)[keyof typeof RunState];

/** The request as it came. The run has what the bus has verified of its sender. */
export interface RunMessage {
  readonly topic: string;
  readonly messageId: string;
  readonly type: string;
  readonly source: string;
  readonly userId?: string | undefined;
  readonly timestamp: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Base64. */
  readonly body: string;
}

/** A caller that waits, and where it hears the end. */
export interface Waiter {
  readonly topic: string;
  readonly correlationId?: string | undefined;
  readonly blob?: string | undefined;
  /** The time at which it hears at the latest how the run stands. */
  readonly tellAt: number;
  /** It hears at once that the run waits: for anybody, or for the answer of a person behind it. */
  readonly hears?: "parked" | "question" | undefined;
  /** When it stops waiting. */
  readonly until: number;
}

/** The question to operators. */
export interface Approval {
  /** All of them must be fulfilled. */
  readonly asked: readonly { readonly by: readonly string[]; readonly needed: number }[];
  readonly binding: Binding;
  /** The arguments as they are bound: canonical JSON with the defaults of the tool. */
  readonly arguments: string;
  readonly decisions: readonly SignedDecision[];
}

/** A decision of an operator as it is kept and carried: nothing of it is outside the signature. */
export interface SignedDecision {
  /** The decision as JSON. */
  readonly statement: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

/** All that a decision is about. If one of it changes, the decision is void. */
export interface Binding {
  readonly caller: string;
  readonly tool: string;
  readonly argumentsHash: string;
  /** Hashes the tool's definition, as its service has it. */
  readonly definitionHash: string;
  /** Hashes the rules that ask, and the credentials, roots, hosts and spaces of the caller. */
  readonly decisionHash: string;
}

/** A question of the tool to a person. */
export interface Question {
  /** Hashes its key or its place among those of the call, its message and its schema. */
  readonly hash: string;
  readonly message: string;
  /** The JSON Schema of the answer. */
  readonly schema: object;
  /** Whose words they are, if they are not those of a tool of ours. */
  readonly origin?: string | undefined;
  /** The faults of the last answer to it, in words. */
  readonly faults?: string | undefined;
}

/** A person's answer to a question. */
export interface Answer {
  /** The question's. */
  readonly hash: string;
  readonly value: unknown;
  /** True if the person was asked, and does not want to answer. */
  readonly isDeclined?: boolean | undefined;
  /** Who gave it: an operator, or `caller:` and the name of the caller for the person behind it. */
  readonly operator: string;
}

/** How far the tool had come. */
export interface RunProgress {
  readonly at: number;
  readonly progress?: number | undefined;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** How it ended. */
export interface RunEnd {
  /** `ok`, `tool_error`, or the code of the error. */
  readonly code: string;
  readonly at: number;
  /** The answer as it is sent; undefined if it is too large to keep. */
  readonly reply?: { readonly type: string; readonly body: string } | undefined;
}

/** Finds a run. */
export type RunKey = Pick<Run, "service" | "caller" | "toolCallId">;

/** How long a kept run may take once it runs. */
export const RUN_MS = 24 * 3_600_000;
/** How long a question waits for its answer. */
export const QUESTION_MS = 24 * 3_600_000;
/** How long the end of a run is kept. */
export const END_KEPT_MS = 24 * 3_600_000;
/** The bounds of the ends that are kept of one caller at one service. The oldest go first. */
export const MAX_ENDED_RUNS = 1_000;
export const MAX_ENDED_BYTES = 64 * 1024 * 1024;
/** Any instance writes the line of an end that nobody has confirmed by then. */
export const AUDIT_MS = 10_000;
/** How long a run that is ready waits for an instance of its service. */
export const READY_MS = 10 * 60_000;
/** How long a run holds without a sign of its owner's life. */
export const LEASE_MS = 10_000;
/** The callers that can wait for one run. A further one takes the place of the oldest. */
export const MAX_WAITERS = 4;
/** So many updates of a run are kept. */
export const MAX_PROGRESS = 20;
/** The largest answer that is kept. */
export const MAX_END_BYTES = 256 * 1024;
/** The bounds of the runs of one caller at one service that have not ended. */
export const MAX_OPEN_RUNS = 100;
export const MAX_OPEN_BYTES = 16 * 1024 * 1024;
/** The most characters of a question with the answers before it, and of an answer, as JSON. */
export const MAX_ASKED_BYTES = 16 * 1024;
/** The most characters of a handle. */
export const MAX_HANDLE_CHARS = 16 * 1024;
/** The largest request that can wait. */
export const MAX_RUN_BYTES = 1024 * 1024;
