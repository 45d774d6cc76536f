import type { Logger } from "@rockbot/bus";
import type { Keep, ResultSize, ToolDefinition, ToolInvokeRequest, ToolInvokeResponse } from "@rockbot/contracts";
import type { ModelTool } from "@rockbot/llm";
import type { PolicyHolder } from "@rockbot/policy";
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
import { isChildTool } from "../family/child-names.ts";
import type { JudgedTool, SessionRights } from "./session-rights.ts";

/** A tool that a turn can use. */
export interface TurnTool {
  readonly tool: ModelTool;
  /** The service that runs it; `agent` for one of the session itself. */
  readonly source: string;
  readonly readOnly: boolean;
  /** JSON Schema of `structured` in its results, if it says. */
  readonly output?: object | undefined;
}

/** A tool, and its arguments. */
export interface NamedCall {
  readonly name: string;
  /** A JSON object as text. */
  readonly arguments: string;
}

/** The call that is to run, with the names of its turn. */
export interface TurnCall extends NamedCall {
  readonly callId: string;
}

// Many because: each is a further source of a turn's tools, or a bound of them, and most have a default.
export interface TurnToolsOptions {
  readonly caller: Pick<ToolCaller, "toolsOf" | "call" | "agent">;
  /** The caller on whose behalf the tools are called. */
  readonly effectiveCaller: string;
  /** The working-memory namespace of the session. */
  readonly namespace: string;
  /** Tools of the session itself: they run in this process. */
  readonly local: readonly Tool[];
  /** The tools among them that the session has whatever it may use. @default none */
  readonly own?: readonly Tool[] | undefined;
  /** The tools of `local` that make calls themselves, and so may use the turn's whole time. @default none */
  readonly unhurried?: readonly Tool[] | undefined;
  /** The tools that call other agents. @default none */
  readonly children?: readonly Tool[] | undefined;
  /** How many tools the client has besides. @default 0 */
  readonly clientTools?: number | undefined;
  /** @default everything is allowed */
  readonly policy?: PolicyHolder | undefined;
  /** What the session may use, besides what its caller may. @default all that its caller may */
  readonly rights?: SessionRights | undefined;
  /** Which of the tools the model is given. */
  readonly select: (tools: readonly TurnTool[]) => readonly TurnTool[];
  /** Makes of a tool on the bus what the model is shown. @default as it is announced */
  readonly advise?: ((tool: TurnTool) => TurnTool) | undefined;
  /** Outermost first. */
  readonly layers: readonly ToolLayer[];
  /** Around these, for results that the model reads. Where a call passes another on, they see that other one. */
  readonly fits: readonly ToolLayer[];
  /** The call that a call passes on, as one of `invoke_tool` does. @default none */
  readonly madeBy?: ((call: NamedCall) => NamedCall | undefined) | undefined;
  readonly log: Logger;
}

/** The context that a call has from the one that leads to it. */
export type ParentCall = NonNullable<CallOptions["parent"]> & Pick<ToolContext, "mayHaveBegun">;

/** How one call runs. */
export interface RunCallOptions {
  readonly parent: ParentCall;
  readonly timeoutMs: number;
  readonly onProgress: NonNullable<CallOptions["onProgress"]>;
  /** True if the result is made to fit the model. */
  readonly isForModel: boolean;
  /** What becomes of the call if it waits for people. */
  readonly keep?: Keep | undefined;
}

/** The source of tools that call other agents. */
export const CHILD_SOURCE = "subagent";
/** Models get lost among more. */
const MAX_CHILDREN_OFFERED = 100;
/** The most tools of all kinds: OpenAI refuses a request with more. */
const MAX_OFFERED = 128;

/**
 * The tools of one turn, as they stand at its beginning: those that its caller may use on the bus, and those of its
 * session.
 */
export class TurnTools {
  /** All that the model can call, sorted by name: the same tools give the same bytes. */
  readonly all: readonly TurnTool[];
  /** The tools that the model is given. */
  readonly offered: readonly TurnTool[];
  readonly #byName: ReadonlyMap<string, TurnTool>;
  readonly #local: ReadonlyMap<string, Tool>;
  /** Their work takes the time that the turn has. */
  readonly #unhurried: ReadonlySet<string>;
  readonly #own: ReadonlySet<string>;
  /** All that the caller may use, where the session may use fewer. */
  readonly #known: ReadonlySet<string>;
  readonly #dangerous: ReadonlySet<string>;
  /** What services say of the size of their tools' results. */
  readonly #sizes: ReadonlyMap<string, ResultSize>;
  readonly #options: TurnToolsOptions;

  constructor(options: TurnToolsOptions) {
    const {
      caller,
      effectiveCaller,
      local,
      own = [],
      unhurried = [],
      children = [],
      rights,
      advise = (tool) => tool,
    } = options;
    this.#options = options;
    this.#local = new Map([...local, ...own, ...children].map((tool) => [tool.definition.name, tool]));
    this.#own = new Set(own.map(nameOf));
    this.#unhurried = new Set([...own, ...unhurried, ...children].map(nameOf));
    const served = caller.toolsOf(effectiveCaller).filter(({ name }) => !isChildTool(name) && !this.#local.has(name));
    this.#dangerous = new Set(served.flatMap(({ name, dangerous }) => (dangerous ? [name] : [])));
    this.#sizes = new Map(
      served.flatMap(({ name, resultSize }) => (resultSize === undefined ? [] : [[name, resultSize]])),
    );
    const here = [...local, ...own].map((tool) => localTool(tool, "agent"));
    const known = [
      ...listTools(served).map((tool) => advise(servedTool(tool))),
      ...here,
      ...children.map((tool) => localTool(tool, CHILD_SOURCE)),
    ];
    this.#known = new Set(rights === undefined ? [] : known.map(({ tool }) => tool.name));
    this.all = known
      .filter(({ tool }) => this.refusal(tool.name) === undefined)
      .sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
    const selected = options.select(this.all);
    const others = selected.filter(({ source }) => source !== CHILD_SOURCE).length + (options.clientTools ?? 0);
    let left = Math.min(MAX_CHILDREN_OFFERED, MAX_OFFERED - others);
    this.offered = selected.filter(({ source }) => source !== CHILD_SOURCE || left-- > 0);
    this.#byName = new Map(this.all.map((entry) => [entry.tool.name, entry]));
  }

  /** On whose behalf they are called. */
  get effectiveCaller(): string {
    return this.#options.effectiveCaller;
  }

  get(name: string): TurnTool | undefined {
    return this.#byName.get(name);
  }

  /** Why the session may not use a tool that its caller may, in words; undefined of every other name. */
  readonly refusal = (name: string): string | undefined => {
    if (!this.#known.has(name)) return undefined;
    return this.#own.has(name) ? undefined : this.#options.rights?.refusal(this.judged(name));
  };

  waitsForAgent(name: string): boolean {
    return this.#byName.get(name)?.source === CHILD_SOURCE;
  }

  /** True if the policy denies the caller every tool of that name. */
  readonly isDenied = (name: string): boolean =>
    this.#options.policy?.current().decide({ caller: this.#options.effectiveCaller, tool: name }).isAllowed === false;

  /** @throws {ToolError} if the session may not make the call now */
  readonly check = (name: string, args: unknown): void => {
    if (!this.#own.has(name)) this.#options.rights?.check(this.judged(name), args);
  };

  /** A call that leads to this one may have a check of its own. */
  #checkWith(given: ParentCall["checkCall"]): NonNullable<ParentCall["checkCall"]> {
    return (name, args) => {
      if (given !== this.check) given?.(name, args);
      this.check(name, args);
    };
  }

  /** A tool, as decisions about it need it. */
  judged(name: string): JudgedTool {
    return { name, isDangerous: this.#dangerous.has(name), isLocal: this.#local.has(name) && !isChildTool(name) };
  }

  /** The call that a call of the model passes on, or that one itself. */
  made({ name, arguments: args }: NamedCall): NamedCall {
    return this.#options.madeBy?.({ name, arguments: args }) ?? { name, arguments: args };
  }

  /** What bounds a turn that a call leads to. */
  grantOf({ grant }: Pick<ParentCall, "grant">): string | undefined {
    return this.#options.rights?.grant(grant) ?? grant;
  }

  /** @throws {ToolError} */
  async run({ callId, name, arguments: args }: TurnCall, run: RunCallOptions): Promise<ToolInvokeResponse> {
    const { parent: given, timeoutMs, onProgress, isForModel, keep } = run;
    const { caller, effectiveCaller, namespace, fits, layers, log, rights } = this.#options;
    if (rights !== undefined) this.check(name, JSON.parse(args));
    const parent =
      rights === undefined
        ? given
        : { ...given, checkCall: this.#checkWith(given.checkCall), grant: this.grantOf(given) };
    const request: ToolInvokeRequest = { toolCallId: callId, toolName: name, arguments: args, sessionId: namespace };
    const local = this.#local.get(name);
    const made = isForModel ? this.made({ name, arguments: args }) : { name, arguments: args };
    if (made.name !== name && this.#local.has(made.name))
      return await this.run({ ...made, callId }, { ...run, parent }); // no call on the bus reaches it
    const context: ToolContext = {
      ...parent,
      deadline: this.#unhurried.has(name) ? parent.deadline : Math.min(parent.deadline, performance.now() + timeoutMs),
      caller: effectiveCaller,
      progress: onProgress,
      keep,
      log,
      resultSize: this.#local.get(made.name)?.definition.resultSize ?? this.#sizes.get(made.name),
    };
    const options: CallOptions = {
      toolCallId: callId,
      parent,
      timeoutMs,
      sessionId: namespace,
      onProgress,
      keep,
      ...(effectiveCaller === caller.agent ? {} : { onBehalfOf: effectiveCaller }),
    };
    const executor: ToolExecutor =
      local === undefined ? { execute: () => caller.call(name, args, options) } : withLocalLayers(local);
    const layered = around(layers, executor);
    if (!isForModel) return layered.execute(request, context);
    const read: ToolExecutor = { execute: (_made, ofCall) => layered.execute(request, ofCall) };
    return around(fits, read).execute({ ...request, toolName: made.name, arguments: made.arguments }, context);
  }
}

/** @param layers outermost first */
const around = (layers: readonly ToolLayer[], executor: ToolExecutor): ToolExecutor =>
  layers.reduceRight((inner, layer) => layer(inner), executor);

/** For a tool that says nothing of its arguments: makers of models take no schema that does not say what it is of. */
const ANYTHING = { type: "object" };

function servedTool({ name, description, parameters, source, readOnly, output }: ListedTool): TurnTool {
  return {
    tool: { name, description, parameters: Object.keys(parameters).length === 0 ? ANYTHING : parameters },
    source,
    readOnly,
    output,
  };
}

const localTools = new WeakMap<ToolDefinition, TurnTool>();

/** The same object from turn to turn, where the definition is: what is reckoned of it is kept. */
function localTool({ definition }: Tool, source: string): TurnTool {
  const known = localTools.get(definition);
  if (known !== undefined) return known;
  const { name, description, inputSchema, readOnly, outputSchema } = definition;
  const tool = { tool: { name, description, parameters: inputSchema }, source, readOnly, output: outputSchema };
  localTools.set(definition, tool);
  return tool;
}

const nameOf = ({ definition }: Tool): string => definition.name;
