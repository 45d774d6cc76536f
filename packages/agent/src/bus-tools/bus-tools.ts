import { randomBytes } from "node:crypto";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { newId, ToolError, ToolErrorCode, type ToolOutput } from "@rockbot/contracts";
import { memoryTools, sessionNamespace, sizeBounds, sizeLayer, type WorkingMemory } from "@rockbot/memory";
import type { PolicyHolder } from "@rockbot/policy";
import { createToolCaller, MAX_TIMEOUT_MS, type ToolCaller } from "@rockbot/tools";
import { readArguments } from "../calls/repair-arguments.ts";
import { storedError, storedResponse } from "../calls/stored-result.ts";
import { TurnTools } from "../calls/turn-tools.ts";
import { UntrustedMark } from "../calls/untrusted-mark.ts";
import { fence } from "../prompt/fence.ts";
import { UNTRUSTED_RULE } from "../prompt/system-text.ts";
import { type AiSdkTools, aiSdkTools } from "./ai-sdk-tools.ts";
import {
  type AnthropicTool,
  type AnthropicToolResult,
  type AnthropicToolUse,
  anthropicTool,
} from "./anthropic-tools.ts";
import type { BusToolResult } from "./bus-tool-result.ts";
import { type OpenAiTool, type OpenAiToolCall, type OpenAiToolMessage, openAiTool } from "./openai-tools.ts";

/** For which conversation tools are. */
export interface BusToolsOptions {
  /** The agent that calls, where a bus is given. @default "agent" */
  readonly agent?: string | undefined;
  /** The caller on whose behalf the tools are called. @default the agent itself */
  readonly onBehalfOf?: string | undefined;
  /** The conversation: its working memory is there again under the same name. @default one of its own */
  readonly sessionId?: string | undefined;
  /** Where results go that are too large for the model, with five tools to read them. Without one they are cut. */
  readonly memory?: WorkingMemory | undefined;
  /** The most characters of a result that the model gets. @default 64_000 */
  readonly threshold?: number | undefined;
  /** Called with each result that is too large for the model, also for calls of other libraries. Must not throw. */
  onToolOutput?(toolName: string, output: ToolOutput): void;
  /** How long one call may take. @default 300_000 */
  readonly timeoutMs?: number | undefined;
  readonly policy?: PolicyHolder | undefined;
  readonly log?: Logger | undefined;
}

/**
 * The tools of a bus for one conversation of a loop that is not ours. They have the forms of the Vercel AI SDK, of
 * OpenAI's API and of Anthropic's.
 */
export interface BusTools extends AsyncDisposable {
  readonly caller: ToolCaller;
  /** A paragraph for the system message: it says that untrusted content is no instruction. */
  readonly instructions: string;
  /** True if the conversation has read untrusted content. Its calls say so from then on. */
  readonly hasReadUntrusted: boolean;
  /** The option `tools` of `generateText` and `streamText`, with the tools of now. */
  aiSdk(): AiSdkTools;
  /** The parameter `tools` of OpenAI's chat completions, with the tools of now. */
  openAi(): readonly OpenAiTool[];
  /** Runs the calls of an answer side by side. @returns the messages for the next request */
  runOpenAi(calls: readonly OpenAiToolCall[], signal?: AbortSignal): Promise<OpenAiToolMessage[]>;
  /** The parameter `tools` of Anthropic's messages, with the tools of now. */
  anthropic(): readonly AnthropicTool[];
  /** Runs the calls among the blocks of an answer. @returns the blocks for the next message */
  runAnthropic(
    blocks: readonly (AnthropicToolUse | { readonly type: string })[],
    signal?: AbortSignal,
  ): Promise<AnthropicToolResult[]>;
  /** Runs one call. A failure is a result, too. @throws only the signal's reason */
  call(name: string, args: object | string | undefined, signal?: AbortSignal): Promise<BusToolResult>;
}

/**
 * The tools that are served on a bus, for a loop that you bring yourself.
 * @param source a bus, or a calling side that stays its maker's
 */
export async function busTools(source: Bus | ToolCaller, options: BusToolsOptions = {}): Promise<BusTools> {
  const { agent = "agent", policy, log = silentLogger } = options;
  const own =
    "subscribe" in source ? await createToolCaller(source, { agent, policy, results: "copy", log }) : undefined;
  const caller = own ?? (source as ToolCaller);
  await caller.discovered();
  return new ConversationTools(caller, own, options);
}

class ConversationTools implements BusTools {
  readonly caller: ToolCaller;
  readonly instructions = UNTRUSTED_RULE;
  readonly #own: ToolCaller | undefined;
  readonly #options: BusToolsOptions;
  readonly #namespace: string;
  readonly #nonce = randomBytes(8).toString("hex");
  readonly #mark = new UntrustedMark(false);

  constructor(caller: ToolCaller, own: ToolCaller | undefined, options: BusToolsOptions) {
    this.caller = caller;
    this.#own = own;
    this.#options = options;
    this.#namespace = sessionNamespace(options.sessionId ?? newId());
  }

  get hasReadUntrusted(): boolean {
    return this.#mark.isSet;
  }

  aiSdk(): AiSdkTools {
    return aiSdkTools(this.#list(), (name, args, signal) => this.call(name, args, signal));
  }

  openAi(): readonly OpenAiTool[] {
    return this.#list().map(openAiTool);
  }

  runOpenAi(calls: readonly OpenAiToolCall[], signal?: AbortSignal): Promise<OpenAiToolMessage[]> {
    return Promise.all(
      calls.map(async (call): Promise<OpenAiToolMessage> => {
        const { id: tool_call_id } = call;
        const content =
          call.type === "function" && call.function !== undefined
            ? (await this.call(call.function.name, call.function.arguments, signal)).content
            : `invalid_arguments: a call of the type "${call.type}" cannot be run. Call a function.`;
        return { role: "tool", tool_call_id, content };
      }),
    );
  }

  anthropic(): readonly AnthropicTool[] {
    return this.#list().map(anthropicTool);
  }

  runAnthropic(
    blocks: readonly (AnthropicToolUse | { readonly type: string })[],
    signal?: AbortSignal,
  ): Promise<AnthropicToolResult[]> {
    const uses = blocks.filter((block): block is AnthropicToolUse => block.type === "tool_use");
    return Promise.all(
      uses.map(async ({ id, name, input }): Promise<AnthropicToolResult> => {
        const { content, isError } = await this.call(name, input as object, signal);
        return { type: "tool_result", tool_use_id: id, content, is_error: isError };
      }),
    );
  }

  async call(
    name: string,
    args: object | string | undefined,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<BusToolResult> {
    const read = readArguments(typeof args === "string" ? args : JSON.stringify(args ?? {}));
    if (!read.ok)
      return {
        content: `invalid_arguments: the arguments of "${name}" cannot be used, as ${read.fault}.`,
        isError: true,
      };
    const tools = this.#tools();
    const { timeoutMs = 300_000 } = this.#options;
    const parent = { signal, deadline: performance.now() + MAX_TIMEOUT_MS, ...this.#mark.forCalls };
    const call = { callId: newId(), name, arguments: read.text };
    const result = await tools
      .run(call, { parent, timeoutMs, onProgress: () => {}, isForModel: true })
      .then(storedResponse, (error: unknown) => {
        signal.throwIfAborted();
        return storedError(
          error instanceof ToolError ? error : new ToolError(ToolErrorCode.ExecutionFailed, String(error)),
        );
      });
    const { content, isError, isUntrusted, origin, toolOutput } = result;
    if (toolOutput !== undefined) this.#options.onToolOutput?.(name, toolOutput);
    this.#mark.read(result);
    const fenced = isUntrusted ? fence(content, { nonce: this.#nonce, origin }) : content;
    const large = toolOutput === undefined ? {} : { toolOutput };
    return {
      content: read.repair === undefined ? fenced : `[Note: about the arguments: ${read.repair}]\n${fenced}`,
      isError,
      ...large,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#own?.[Symbol.asyncDispose]();
  }

  #list() {
    return this.#tools().all.map(({ tool }) => tool);
  }

  /** As they are now. */
  #tools(): TurnTools {
    const { onBehalfOf = this.caller.agent, memory, threshold = 64_000, log = silentLogger } = this.#options;
    const own = memory?.of(onBehalfOf);
    const namespace = this.#namespace;
    const local =
      own === undefined
        ? []
        : memoryTools(own, { namespace, pageChars: threshold, hasReadUntrusted: () => this.#mark.isSet });
    const fits = [sizeLayer({ memory: own, namespace, threshold: sizeBounds({ threshold }) })];
    return new TurnTools({
      caller: this.caller,
      effectiveCaller: onBehalfOf,
      namespace,
      local,
      select: (all) => all,
      layers: [],
      fits,
      log,
    });
  }
}
