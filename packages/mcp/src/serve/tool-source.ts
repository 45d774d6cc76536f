import type { ContentTrust, Keep, ToolError, ToolGuide, ToolInvokeResponse } from "@rockbot/contracts";

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
  /** What becomes of it when it waits for people, or is detached. @default as the source does with other calls */
  readonly keep: Keep | undefined;
  /** True if a person behind the client answers the questions of the tool. Each ends the call in `pending` at once. */
  readonly asksCaller: boolean;
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

/** A call that goes on without the request that made it: it waits for people, or runs detached. */
export interface OfferedRun {
  readonly toolCallId: string;
  readonly toolName: string;
  /** What it waits for, or how far it has come, in words. */
  readonly status?: string | undefined;
  /** Times are Unix milliseconds. */
  readonly createdAt: number;
  readonly changedAt: number;
  readonly keptUntil: number;
  /** What its tool asks the person behind the client, by a form. No other question of the call has the same key. */
  readonly question?: { readonly key: string; readonly message: string; readonly schema: object } | undefined;
  /** How it ended; undefined while it has not. */
  readonly reply?: ToolInvokeResponse | ToolError | undefined;
}

/** The calls of one client that go on without their requests. */
export interface OfferedRuns {
  /** Seals questions, the same wherever their answers may come. @default nobody behind a client answers */
  readonly sealKey: Uint8Array | undefined;
  /** @returns undefined if the client has made no such call, or it is forgotten */
  find(toolCallId: string): Promise<OfferedRun | undefined>;
  /** Cancels a call, if it has not ended. */
  cancel(toolCallId: string): Promise<void>;
  /** Answers a question that waits still; undefined declines. @throws {ToolError} if no service took the answer */
  answer(toolCallId: string, key: string, content: object | undefined): Promise<void>;
}

/** The tools that one client may see and call. */
export interface ToolSource {
  /** The longest time that a call may ask for, in milliseconds. */
  readonly maxTimeoutMs: number;
  /** The client's calls that go on without their requests. @default none are found again */
  readonly runs?: OfferedRuns | undefined;
  /** The tools that the client may use now, in an order that never changes. */
  listTools(): Promise<readonly OfferedTool[]>;
  /** One of them by its name, without a look at the others. */
  findTool(name: string): Promise<OfferedTool | undefined>;
  getGuides(): Promise<readonly ToolGuide[]>;
  /** The id of a call: a new one, or the one that belongs to the client's idempotency key, and to no other client's. */
  toolCallIdOf(idempotencyKey: string | undefined): string;
  /**
   * @throws {ToolError} if the call failed. A tool that reports a failure of its own gives a response with `isError`.
   */
  call(name: string, args: object, call: OfferedCall): Promise<ToolInvokeResponse>;
}
