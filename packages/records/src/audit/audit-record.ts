import type { AuditReader } from "./audit-reader.ts";

/**
 * The record of one call, by which an operator can later say who did what. Strangers chose some of its texts. The log
 * keeps them without this process's secrets, and keeps the first 256 characters of a longer one. It keeps only a hash
 * of the arguments, and nothing of the result.
 */
export interface AuditRecord {
  /** The tool service. */
  readonly service: string;
  /** The effective caller: on whose behalf the call ran. */
  readonly caller: string;
  /** The operator who made the call as that caller. */
  readonly operator?: string | undefined;
  readonly tool: string;
  readonly toolCallId: string;
  /** The arguments' text; the whole message where that is no call that can be read. */
  readonly arguments: string | Uint8Array;
  /**
   * The policy's decision; `none` where it was not asked, as for a call that cannot be read or a tool that is not
   * there.
   */
  readonly decision: "allowed" | "denied" | "none";
  /** The policy's revision. */
  readonly policy?: string | undefined;
  /** Set if untrusted content led to the call, as its sender says. */
  readonly hasReadUntrusted?: true | undefined;
  /** `ok`, `tool_error`, the code of the error that was answered, `superseded`, or `dead_lettered`. */
  readonly outcome: string;
  /** The time from receipt to the answer. */
  readonly durationMs: number;
  readonly traceId?: string | undefined;
}

/**
 * The number of requests or calls that the front door has refused since the last such record. They have no records of
 * their own.
 */
export interface RefusedRequests {
  readonly event: "refused";
  readonly service: string;
  /** Whence they came, where nobody is known to stand behind them. */
  readonly address?: string | undefined;
  /** Whose calls they were. */
  readonly caller?: string | undefined;
  /** The code that they were answered with. */
  readonly outcome?: string | undefined;
  readonly count: number;
}

/** An operator's decision about what callers have made: who may see it. */
export interface SharingDecision {
  readonly event: "approved" | "withdrawn";
  readonly service: string;
  /** The user of the system that has decided. */
  readonly by: string;
  readonly kind: string;
  readonly maker: string;
  readonly name: string;
  readonly version: number;
  /** The hash of the content that the user got; `hash` is that of the line. */
  readonly contentHash: string;
}

/** A deed of an operator that is no call of a tool: a command, or a look at what belongs to others. */
export interface OperatorDeed {
  readonly event: "operator";
  readonly service: string;
  readonly operator: string;
  /** What was done, such as `cancel`, or `read arguments`. */
  readonly action: string;
  /** The id of what it was done to, or the tools and servers that were decided about, with the hash of each. */
  readonly of?: string | undefined;
  /** Why, in the operator's words. */
  readonly note?: string | undefined;
  /** What a decision about a call is bound to: the hash of the arguments. The line has a hash of that. */
  readonly arguments?: string | undefined;
  readonly outcome: string;
}

/** The content of one line. */
export type AuditLine = AuditRecord | RefusedRequests | SharingDecision | OperatorDeed;

/** Keeps records in the order in which they come. */
export interface AuditLog extends AsyncDisposable {
  /** Reads what is kept, for operators. @default its lines are not read here */
  readonly reader?: Pick<AuditReader, "search" | "state"> | undefined;
  /** True if a record would be written now, as far as is known: false from a failure to the next success. */
  readonly isWriting: boolean;
  /**
   * Resolves once the record is in the system's hands, so that it outlives this process. After a failure to write, or a
   * second, it resolves all the same. Never rejects.
   */
  write(record: AuditLine): Promise<void>;
}
