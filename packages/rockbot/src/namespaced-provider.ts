import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { defineTool, type ToolSet } from "@rockbot/tools";
import { toolDefinition } from "./tool-definition.ts";

/**
 * Tools of one namespace behind one object, as orchestrators of agents have them. `namespacedTools` makes tools of ours
 * of it.
 */
export interface NamespacedProvider {
  /** What stands behind it: `mcp`, `rest`, `agent`, or a word of yours. */
  readonly kind: string;
  /** Begins the names of its tools, before `__`. */
  readonly namespace: string;
  listTools(): readonly NamespacedTool[] | Promise<readonly NamespacedTool[]>;
  /** @param name without the namespace */
  hasTool(name: string): boolean;
  /** Runs a tool. A failure is a result with `ok: false`. What it throws is a failure, too. */
  execute(
    name: string,
    parameters: Readonly<Record<string, unknown>>,
    options: NamespacedCall,
  ): Promise<NamespacedResult>;
  /** Is awaited once, before the tools are listed. */
  warmup?(): Promise<void> | void;
  /** Teaches a model the tools, in markdown: their guide. */
  getInstructions?(): string;
}

/** A tool as a provider lists it. */
export interface NamespacedTool {
  /** The name without the namespace. */
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of type object. */
  readonly inputSchema: object;
  /** @default false */
  readonly readOnly?: boolean | undefined;
  /** @default false */
  readonly idempotent?: boolean | undefined;
}

/** The circumstances of a call, for its provider. */
export interface NamespacedCall {
  readonly signal: AbortSignal;
  /** The time that is left. */
  readonly timeoutMs: number;
  /** On whose behalf the call runs. */
  readonly caller: string;
}

/** The outcome of a call. */
export interface NamespacedResult {
  readonly ok: boolean;
  readonly result?: string | undefined;
  readonly error?: string | undefined;
  readonly latencyMs: number;
  readonly kind: string;
  readonly namespace: string;
  readonly extras?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The tools of a provider, for `serveTools`: `{namespace}__{name}`, with its instructions as their guide. The layers
 * around tools give them deadlines, policy, claims and audit.
 * @throws {TypeError} if a name or a schema cannot be used
 */
export async function namespacedTools(provider: NamespacedProvider): Promise<ToolSet> {
  await provider.warmup?.();
  const { namespace, kind } = provider;
  const listed = await provider.listTools();
  const tools = listed.map(({ name, description = "", ...promises }) => {
    const definition = toolDefinition({ ...promises, name: `${namespace}__${name}`, description });
    return defineTool(definition, async (parameters, { signal, deadline, caller }) => {
      if (!provider.hasTool(name))
        throw new ToolError(
          ToolErrorCode.ToolNotFound,
          `"${definition.name}" was not run: "${namespace}" does not have it any more. Find another tool.`,
        );
      const { ok, result, error, extras } = await provider.execute(name, parameters, {
        signal,
        timeoutMs: Math.max(0, deadline - performance.now()),
        caller,
      });
      if (ok) return { content: result ?? "", ...(extras === undefined ? {} : { structured: { ...extras } }) };
      throw new ToolError(
        ToolErrorCode.ExecutionFailed,
        error ?? `The ${kind} "${namespace}" does not say why "${name}" failed`,
      );
    });
  });
  const instructions = provider.getInstructions?.() ?? "";
  const guide = { name: namespace, summary: `How to use the tools of ${namespace}.`, document: instructions };
  return instructions === "" ? { tools } : { tools, guides: [guide] };
}
