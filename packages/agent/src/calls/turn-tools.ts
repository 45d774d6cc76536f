import type { Logger } from "@rockbot/bus";
import type { ToolInvokeRequest, ToolInvokeResponse } from "@rockbot/contracts";
import type { ModelTool } from "@rockbot/llm";
import {
  type CallOptions,
  type ListedTool,
  listTools,
  type Tool,
  type ToolCaller,
  type ToolContext,
  type ToolExecutor,
  type ToolLayer,
  withLocalLayers,
} from "@rockbot/tools";

/** A tool that a turn can use. */
export interface TurnTool {
  readonly tool: ModelTool;
  /** The service that runs it; `agent` for one of the session itself. */
  readonly source: string;
  readonly readOnly: boolean;
  /** JSON Schema of `structured` in its results, if it says. */
  readonly output?: object | undefined;
}

/** The call that is to run, with the names of its turn. */
export interface TurnCall {
  readonly callId: string;
  readonly name: string;
  /** A JSON object as text. */
  readonly arguments: string;
}

export interface TurnToolsOptions {
  readonly caller: Pick<ToolCaller, "toolsOf" | "call" | "agent">;
  /** On whose behalf. */
  readonly effectiveCaller: string;
  /** The working-memory namespace of the session. */
  readonly namespace: string;
  /** Tools of the session itself: they run in this process. */
  readonly local: readonly Tool[];
  /** Which of the tools the model is given. */
  readonly select: (tools: readonly TurnTool[]) => readonly TurnTool[];
  /** Outermost first. */
  readonly layers: readonly ToolLayer[];
  /** Around these, for results that the model reads. */
  readonly fits: readonly ToolLayer[];
  readonly log: Logger;
}

/** What a call has of the one that leads to it. */
export type ParentCall = NonNullable<CallOptions["parent"]> & Pick<ToolContext, "mayHaveBegun">;

/** How one call runs. */
export interface RunCallOptions {
  readonly parent: ParentCall;
  readonly timeoutMs: number;
  readonly onProgress: NonNullable<CallOptions["onProgress"]>;
  /** Whether the result is made to fit the model. */
  readonly isForModel: boolean;
}

/** Tools of agents are for people and programs, not for agents: a turn that called one would wait for itself. */
const OWN_PREFIX = "agent__";

/** The tools of one turn, as they stand at its beginning: those that its caller may use on the bus, and those of its session. */
export class TurnTools {
  /** All that the model can call, sorted by name: the same tools give the same bytes. */
  readonly all: readonly TurnTool[];
  /** Those that the model is given. */
  readonly offered: readonly TurnTool[];
  readonly #byName: ReadonlyMap<string, TurnTool>;
  readonly #local: ReadonlyMap<string, ToolExecutor>;
  readonly #options: TurnToolsOptions;

  constructor(options: TurnToolsOptions) {
    const { caller, effectiveCaller, local } = options;
    this.#options = options;
    this.#local = new Map(local.map((tool) => [tool.definition.name, withLocalLayers(tool)]));
    const served = caller.toolsOf(effectiveCaller).filter(({ name }) => !name.startsWith(OWN_PREFIX) && !this.#local.has(name));
    this.all = [...listTools(served).map(servedTool), ...local.map(localTool)].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
    this.offered = options.select(this.all);
    this.#byName = new Map(this.all.map((entry) => [entry.tool.name, entry]));
  }

  get(name: string): TurnTool | undefined {
    return this.#byName.get(name);
  }

  /** @throws {ToolError} */
  run({ callId, name, arguments: args }: TurnCall, { parent, timeoutMs, onProgress, isForModel }: RunCallOptions): Promise<ToolInvokeResponse> {
    const { caller, effectiveCaller, namespace, fits, layers, log } = this.#options;
    const request: ToolInvokeRequest = { toolCallId: callId, toolName: name, arguments: args, sessionId: namespace };
    const local = this.#local.get(name);
    const context: ToolContext = {
      ...parent,
      deadline: Math.min(parent.deadline, performance.now() + timeoutMs),
      caller: effectiveCaller,
      progress: onProgress,
      log,
    };
    const options: CallOptions = {
      toolCallId: callId,
      parent,
      timeoutMs,
      sessionId: namespace,
      onProgress,
      ...(effectiveCaller === caller.agent ? {} : { onBehalfOf: effectiveCaller }),
    };
    const executor: ToolExecutor = local ?? { execute: () => caller.call(name, args, options) };
    return [...(isForModel ? fits : []), ...layers].reduceRight((inner, layer) => layer(inner), executor).execute(request, context);
  }
}

/** For a tool that says nothing of its arguments: makers of models take no schema that does not say what it is of. */
const ANYTHING = { type: "object" };

function servedTool({ name, description, parameters, source, readOnly, output }: ListedTool): TurnTool {
  return { tool: { name, description, parameters: Object.keys(parameters).length === 0 ? ANYTHING : parameters }, source, readOnly, output };
}

function localTool({ definition: { name, description, inputSchema, readOnly, outputSchema } }: Tool): TurnTool {
  return { tool: { name, description, parameters: inputSchema }, source: "agent", readOnly, output: outputSchema };
}
