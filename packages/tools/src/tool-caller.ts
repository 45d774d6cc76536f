import type { Bus, Logger } from "@rockbot/bus";
import type { ToolGuide, ToolInvokeResponse } from "@rockbot/contracts";
import type { ProgressUpdate } from "./tool-executor.ts";
import type { ToolRegistry } from "./tool-registry.ts";

export interface ToolCallerOptions {
  /** The agent that calls: the name in its result topic and, where nobody verifies senders, its identity. `^[a-z0-9][a-z0-9-]{0,38}$`. */
  readonly agent: string;
  /** Tells processes of one agent apart. Same grammar. */
  readonly instance?: string | undefined;
  /** Whether answers wait for this agent while it is away (a service), or end with it (a one-shot command). @default "result" */
  readonly results?: "result" | "copy" | undefined;
  readonly log?: Logger | undefined;
}

export interface CallOptions {
  /** Identifies the call: the same id is the same call. @default 32 random hex digits */
  readonly toolCallId?: string | undefined;
  /** @default 60_000, at most 20 minutes */
  readonly timeoutMs?: number | undefined;
  /** Aborting cancels the call, wherever it is. */
  readonly signal?: AbortSignal | undefined;
  /** The working-memory namespace the call belongs to. */
  readonly sessionId?: string | undefined;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
}

/** The calling side: finds the tools that are served on a bus, and calls them. */
export interface ToolCaller extends AsyncDisposable {
  /** The tools that can be called now: those announced on the bus, and the two guide tools. */
  readonly tools: ToolRegistry;
  /** All announced guides, sorted by name. */
  getGuides(): readonly ToolGuide[];
  /** Resolves once every service that was up has had time to announce itself: at the first answer's settling, at most 300 ms after the start. */
  discovered(): Promise<void>;
  /**
   * Calls a tool. Settles once, by the deadline + 500 ms.
   * @param args the arguments: an object, or a JSON object as text
   * @throws {ToolError} if the call failed. A tool that reports a failure of its own gives a response with `isError`.
   */
  call(name: string, args: object | string | undefined, options?: CallOptions): Promise<ToolInvokeResponse>;
}

export type CreateToolCaller = (bus: Bus, options: ToolCallerOptions) => Promise<ToolCaller>;
