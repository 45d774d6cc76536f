import type { IncomingHttpHeaders } from "node:http";

/** A tool call as the model writes it. */
export interface ScriptedCall {
  /** @default an id as this protocol's maker gives one */
  readonly id?: string;
  readonly name: string;
  /** A text goes out as it is, valid or not; anything else as JSON. @default {} */
  readonly arguments?: unknown;
}

/** What one request gets. All that is said holds at once: a text, then calls; a pause before, then a cut. */
export interface ModelStep {
  readonly text?: string;
  /** What the model thinks before it answers, where the protocol can carry it. */
  readonly reasoning?: string;
  readonly toolCalls?: readonly ScriptedCall[];
  /** The model refuses, in these words, after `text`. */
  readonly refusal?: string;
  /** In the words of OpenAI, for both protocols; others go out as they are. @default as the rest says */
  readonly finish?: "stop" | "tool_calls" | "length" | "content_filter" | (string & {});
  /** What is counted by the server otherwise: a token for each four characters. */
  readonly usage?: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly cachedInputTokens?: number;
  };

  /** Instead of an answer. The words are those of the protocol's maker for the status, unless given. */
  readonly status?: number;
  readonly error?: { readonly message?: string; readonly type?: string; readonly code?: string | number | null };
  readonly headers?: Readonly<Record<string, string>>;
  /** Status 200 with this as the whole body, JSON. */
  readonly json?: unknown;
  /** These lines as the stream's events, as they are: `data: ` is put before each. */
  readonly raw?: readonly string[];

  /** Silence before the first byte, headers included. */
  readonly delayMs?: number;
  /** Silence between two events. */
  readonly betweenMs?: number;
  /** How many characters an event carries. @default 24 */
  readonly chunkLength?: number;
  /** After so many events the connection breaks. */
  readonly cutAfter?: number;
  /** After so many events the stream ends as if all had been said. */
  readonly endAfter?: number;
  /** After so many events nothing more comes, and the connection stays. */
  readonly stallAfter?: number;
  /** After so many events an error comes in the stream, and the stream ends. */
  readonly errorAfter?: number;
}

/** A step for each request in turn, or a function that looks at the request. */
export type ModelScript = readonly ModelStep[] | ((request: ModelServerRequest) => ModelStep | Promise<ModelStep>);

/** A message of a request, in one form for both protocols. */
export interface SentMessage {
  readonly role: string;
  readonly text: string;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** The id of the call, for a tool's result. */
  readonly toolCallId?: string;
}

export interface ModelServerRequest {
  readonly protocol: ModelProtocol;
  /** From 0, over both protocols; requests that were refused count. */
  readonly index: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The bytes of the body. */
  readonly raw: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly messages: readonly SentMessage[];
  readonly toolNames: readonly string[];
  /** Tokens of messages and tools as the server counts them. */
  readonly inputTokens: number;
  /** Why the server refused the request by its own rules; the script was not asked then. */
  readonly refused?: string;
}

export type ModelProtocol = "openai" | "anthropic";

/** An error that the server answers with: its status, and the words in the form of the protocol's maker. */
export interface ModelFault {
  readonly status: number;
  readonly message: string;
  readonly type?: string;
  readonly code?: string | number | null;
  readonly param?: string | null;
}
