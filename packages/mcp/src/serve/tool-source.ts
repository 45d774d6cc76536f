import type { ContentTrust, ToolGuide, ToolInvokeResponse } from "@rockbot/contracts";

/** A tool as it is offered to MCP clients. */
export interface OfferedTool {
  readonly name: string;
  /** The title for people. */
  readonly title?: string | undefined;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: object;
  /** JSON Schema of `structured` in the answer. */
  readonly output?: object | undefined;
  readonly readOnly: boolean;
  readonly idempotent: boolean;
  /** Whose words name, description and schemas are. @default our own */
  readonly trust?: ContentTrust | undefined;
}

/** One call of a tool by an MCP client. */
export interface OfferedCall {
  readonly toolCallId: string;
  /** True if the client chose the id, by its idempotency key: then the answer is kept for a while. */
  readonly isKeyed: boolean;
  /** @default the source's own */
  readonly timeoutMs: number | undefined;
  readonly sessionId: string | undefined;
  /** True if the client says that untrusted content led to the call. */
  readonly hasReadUntrusted: boolean;
  /** How long ago the client sent the call first, if it repeats one that it has no answer to. */
  readonly firstSentMsAgo: number | undefined;
  /** Aborting cancels the call, wherever it is. Undefined if it is to go on without its client. */
  readonly signal: AbortSignal | undefined;
  /** Undefined if the client wants no progress. */
  readonly onProgress: ((update: ProgressUpdate) => void) | undefined;
}

export interface ProgressUpdate {
  readonly progress?: number | undefined;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** The tools that one client may see and call. */
export interface ToolSource {
  /** The longest time that a call may ask for, in milliseconds. */
  readonly maxTimeoutMs: number;
  /** The tools that the client may use now, in an order that never changes. */
  listTools(): Promise<readonly OfferedTool[]>;
  getGuides(): Promise<readonly ToolGuide[]>;
  /** The id of a call: a new one, or the one that belongs to the client's idempotency key, and to no other client's. */
  toolCallIdOf(idempotencyKey: string | undefined): string;
  /**
   * @throws {ToolError} if the call failed. A tool that reports a failure of its own gives a response with `isError`.
   */
  call(name: string, args: object, call: OfferedCall): Promise<ToolInvokeResponse>;
}
