import { type AnnouncedTool, boundedTrust, type ToolDefinition } from "@rockbot/contracts";
import type { Tool } from "../define/define-tool.ts";
import type { ToolExecutor } from "../define/tool-executor.ts";
import { isProvider } from "../define/tool-provider.ts";
import type { ToolSet } from "../define/tool-set.ts";
import type { FastLane } from "./fast-lane.ts";

/** A tool with its layers around it. */
export interface ServedTool extends Pick<Tool, "definition" | "isToBlame" | "dropHandle"> {
  readonly executor: ToolExecutor;
}

export interface ServedToolsOptions {
  readonly withLayers: (tool: Tool) => ToolExecutor;
}

/** True if a call may have effects; also while the tools are unknown. */
export const mayHaveEffects = (set: ToolSet): boolean =>
  isProvider(set) || set.tools.some(({ definition }) => !definition.readOnly);

/**
 * The tools of one service, each with its layers around it: a fixed set, or those that a provider has at the moment.
 */
export class ServedTools {
  readonly #set: ToolSet;
  readonly #withLayers: (tool: Tool) => ToolExecutor;
  readonly #fixed: ReadonlyMap<string, ServedTool> | undefined;
  /** A provider gives the same object for the same tool, so that its layers are put around it once. */
  readonly #layered = new WeakMap<Tool, ServedTool>();

  constructor(set: ToolSet, { withLayers }: ServedToolsOptions) {
    this.#set = set;
    this.#withLayers = withLayers;
    if (isProvider(set)) return;
    this.#fixed = new Map(set.tools.map((tool) => [tool.definition.name, this.#layer(tool)]));
  }

  get definitions(): readonly ToolDefinition[] {
    return this.#set.tools.map(({ definition }) => definition);
  }

  get names(): readonly string[] {
    return this.#set.tools.map(({ definition }) => definition.name);
  }

  /** The tool that a request means. @throws {ToolError} if that is the answer to the request */
  find(toolName: string, headers: Readonly<Record<string, string>>): ServedTool | undefined {
    if (!isProvider(this.#set)) return this.#fixed?.get(toolName);
    const tool = this.#set.find(toolName, headers);
    return tool === undefined ? undefined : this.#layer(tool);
  }

  /** What finds some of the tools, and no others. */
  only(names: readonly string[]): Pick<ServedTools, "names" | "find"> {
    return {
      names,
      find: (toolName, headers) => (names.includes(toolName) ? this.find(toolName, headers) : undefined),
    };
  }

  /** The list that is announced of them. */
  announced(
    placeOf: (tool: string) => Pick<AnnouncedTool, "topic" | "subscription">,
    lane: Pick<FastLane, "admits">,
  ): AnnouncedTool[] {
    return this.#set.tools.map(
      ({
        definition,
        definition: {
          name,
          title,
          description,
          inputSchema,
          outputSchema,
          readOnly,
          idempotent,
          dangerous,
          resultSize,
          trust,
        },
      }) => ({
        name,
        ...(title === undefined ? {} : { title }),
        description,
        parametersSchema: JSON.stringify(inputSchema),
        outputSchema: outputSchema === undefined ? null : JSON.stringify(outputSchema),
        topic: placeOf(name).topic,
        subscription: placeOf(name).subscription,
        readOnly,
        idempotent,
        ...(lane.admits(definition) ? { fast: true } : {}),
        ...(dangerous ? { dangerous } : {}),
        ...(resultSize === undefined ? {} : { resultSize }),
        ...(trust == null ? {} : { trust: boundedTrust(trust) }),
      }),
    );
  }

  onChange(listener: () => void): () => void {
    return isProvider(this.#set) ? this.#set.onChange(listener) : () => {};
  }

  #layer(tool: Tool): ServedTool {
    const known = this.#layered.get(tool);
    if (known !== undefined) return known;
    const served: ServedTool = {
      definition: tool.definition,
      isToBlame: tool.isToBlame,
      dropHandle: tool.dropHandle,
      executor: this.#withLayers(tool),
    };
    this.#layered.set(tool, served);
    return served;
  }
}
