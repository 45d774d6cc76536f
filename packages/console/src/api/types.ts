import type { CallRecord } from "@rockbot/records/journal";
import type { Operator } from "./session.ts";

export interface Me {
  readonly operator: Operator;
  readonly version: string;
}

/** One minute of the calls that this gateway can read of; the times are of those that ended in it. */
export interface Minute {
  /** Its beginning, Unix milliseconds. */
  readonly at: number;
  readonly ended: number;
  readonly failed: number;
  /** Milliseconds; null if no call ended. */
  readonly p50: number | null;
  readonly p95: number | null;
}

export interface Problem {
  readonly level: "error" | "warning";
  readonly what: string;
  readonly next: string;
}

export interface ServiceState {
  readonly name: string;
  readonly instances: number;
  readonly tools: number;
  readonly state: "ready" | "gone" | "unusable";
  readonly reason?: string;
}

export interface Overview {
  readonly at: number;
  readonly version: string;
  readonly bus: { readonly isReady: boolean };
  readonly policy: { readonly revision: string } | null;
  readonly problems: readonly Problem[];
  readonly services: readonly ServiceState[];
  readonly minutes: readonly Minute[];
  readonly codes: Readonly<Record<string, number>>;
  readonly running: number;
}

export type Call = Omit<CallRecord, "blob" | "request" | "sent">;

export interface Calls {
  readonly calls: readonly Call[];
  readonly more: boolean;
}

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
