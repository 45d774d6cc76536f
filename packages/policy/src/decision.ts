import type { ArgumentRule } from "./document/argument-rules.ts";
import type { PolicyQueue } from "./generated/policy.ts";

/** One use of a tool by a caller. */
export interface Use {
  /** The effective caller. */
  readonly caller: string;
  readonly tool: string;
  /**
   * A policy allows a dangerous tool only where it names the tool in full.
   * @default false, but for the names that are known as dangerous
   */
  readonly isDangerous?: boolean | undefined;
  /** True if the service of the tool says that it has no effects. @default false */
  readonly isReadOnly?: boolean | undefined;
  /**
   * True if untrusted content led to the call. It restricts only: what is denied without it is denied with it.
   * @default false
   */
  readonly hasReadUntrusted?: boolean | undefined;
}

/**
 * An amount that can be used up, and comes back with time: at most `amount`, and as much again in `perMs` milliseconds.
 */
export interface RateLimit {
  /** The name of the calls that are counted together. */
  readonly key: string;
  /** `tool` counts the calls of this tool, `caller` those of all. */
  readonly scope: "tool" | "caller";
  readonly amount: number;
  readonly perMs: number;
}

/** Calls that operators approve before they run. */
export interface ApprovalRule {
  /** Names of operators who may decide, each once. */
  readonly by: readonly string[];
  /** How many of them must approve. */
  readonly needed: number;
  /** How long a call waits. */
  readonly forMs: number;
  /** Its place in words. For operators: not for the caller. */
  readonly at: string;
  /**
   * It asks only for calls whose arguments its `validate` takes; for all if undefined. Arguments that cannot be checked
   * in bounded time count as taken.
   */
  readonly arguments?: ArgumentRule | undefined;
  /** The SHA-256 of all that the rule says, in 22 characters. Its place is no part of it. */
  readonly hash: string;
}

/**
 * A policy's decision about one caller's use of one tool. It is mostly the same object as long as the policy is the
 * same.
 */
export interface Decision {
  readonly isAllowed: boolean;
  /** The rule that decided, and its place. For operators: not for the caller. */
  readonly because: string;
  /** Set if it would be allowed had no untrusted content been read before. */
  readonly isDeniedAfterUntrusted?: true | undefined;
  /** Set if the caller may use it, and its scripts, or the session that runs one, may not. */
  readonly isDeniedToScripts?: true | undefined;
  /** The revision of the policy that decided. */
  readonly revision: string;
  /** Each call takes one from all of them: those of this tool, and those over all tools. */
  readonly rates: readonly RateLimit[];
  /** Takes the bytes of arguments and results. */
  readonly bytes?: RateLimit | undefined;
  /** Takes the seconds that scripts run. */
  readonly scriptSeconds?: RateLimit | undefined;
  /** Calls of this tool by this caller that run at once in one instance. */
  readonly concurrency?: number | undefined;
  /** How old a kept answer may be, at most; 0 is never from what is kept. */
  readonly cacheSeconds?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** All of them must be fulfilled. */
  readonly argumentRules: readonly ArgumentRule[];
  /** All of them must be fulfilled. They restrict only, and so count for nothing where the use is not allowed. */
  readonly approvals: readonly ApprovalRule[];
  /**
   * Set if there are approvals: a hash of what the effective caller's calls work with, which are its credentials, roots,
   * hosts and spaces. An approval is for these.
   */
  readonly boundTo?: string | undefined;
  /** Calls by this caller, of all tools, at once in one instance. */
  readonly inFlight: number;
  /** Calls that may stand between the first and this one. */
  readonly depth: number;
  /** The queue that the tool stands in, with others. */
  readonly queue?: ({ readonly name: string } & Pick<PolicyQueue, "concurrency" | "waiting">) | undefined;
}
