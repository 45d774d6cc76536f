import type { SettledCall } from "./settle-calls.ts";

/** What agent-service.ts does. */
// Many because: each is one thing that a test of faults does otherwise.
export interface AgentOptions {
  readonly busUrl: string;
  readonly agent: string;
  readonly tool: string;
  /** Begins the ids of its calls. */
  readonly prefix: string;
  /** It makes so many calls at once. */
  readonly calls?: number | undefined;
  /** Or so many each second, until SIGTERM. */
  readonly perSecond?: number | undefined;
  readonly holdMs?: number | undefined;
  /** How long each call keeps its service busy. */
  readonly blockMs?: number | undefined;
  /** @default 60_000 */
  readonly timeoutMs?: number | undefined;
  /** How many agents share the process, its bus and the calls. @default 1 */
  readonly callers?: number | undefined;
  /** The bound of each agent. @default as the library */
  readonly maxCallsInFlight?: number | undefined;
  readonly heartbeatSeconds?: number | undefined;
  /** The file that it appends each answer to. */
  readonly ledger?: string | undefined;
  /**
   * Calls as a deployed agent does: by a policy, under its own broker user, its journal in Redis, traces and metrics by
   * the process's environment.
   */
  readonly deployed?:
    | { readonly policyFile: string; readonly redis: { readonly url: string; readonly prefix: string } }
    | undefined;
}

/** What it has to say in the end. */
export interface AgentReport {
  readonly settled: readonly SettledCall[];
  /** From its first call to its last answer. */
  readonly ms: number;
  readonly peakMb: number;
}
