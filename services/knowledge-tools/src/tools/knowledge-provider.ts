import { type ToolDefinition, tools } from "@rockbot/contracts";
import type { Tool, ToolProvider } from "@rockbot/tools";
import { knowledgeGuide } from "../knowledge-guide.ts";
import type { KnowledgeDesk } from "./knowledge-desk.ts";
import { knowledgeGet } from "./knowledge-get.ts";
import { knowledgeSave } from "./knowledge-save.ts";
import { knowledgeSearch } from "./knowledge-search.ts";

/** What there is now, as advice for models: other values are taken, too. */
export interface Advice {
  readonly kinds: readonly string[];
  readonly categories: readonly string[];
}

export interface KnowledgeProviderOptions {
  /** Whether the search is offered as `search`, too. */
  readonly offerSearch: boolean;
}

/** The tools, whose schemas have the kinds and categories of now. A change of those announces them anew. */
export class KnowledgeProvider implements ToolProvider {
  readonly guides = [knowledgeGuide];
  readonly #desk: KnowledgeDesk;
  readonly #options: KnowledgeProviderOptions;
  readonly #listeners = new Set<() => void>();
  #advice: string;
  #tools: readonly Tool[];

  constructor(desk: KnowledgeDesk, advice: Advice, options: KnowledgeProviderOptions) {
    this.#desk = desk;
    this.#options = options;
    this.#advice = JSON.stringify(advice);
    this.#tools = this.#toolsWith(advice);
  }

  get tools(): readonly Tool[] {
    return this.#tools;
  }

  find(toolName: string): Tool | undefined {
    return this.#tools.find(({ definition }) => definition.name === toolName);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  advise(advice: Advice): void {
    const text = JSON.stringify(advice);
    if (text === this.#advice) return;
    this.#advice = text;
    this.#tools = this.#toolsWith(advice);
    for (const listener of this.#listeners) listener();
  }

  #toolsWith({ kinds, categories }: Advice): readonly Tool[] {
    return [
      knowledgeSearch(this.#desk, advised(tools.knowledgeSearch, { kinds, categories })),
      ...(this.#options.offerSearch ? [knowledgeSearch(this.#desk, advised(tools.search, { kinds, categories }))] : []),
      knowledgeGet(this.#desk),
      knowledgeSave(this.#desk, advised(tools.knowledgeSave, { kind: kinds, categories })),
    ];
  }
}

/** The definition whose arguments, or their items, have these values as advice. */
function advised<Input, Output>(definition: ToolDefinition<Input, Output>, values: Readonly<Record<string, readonly string[]>>): ToolDefinition<Input, Output> {
  const { properties, ...schema } = definition.inputSchema as { readonly properties: Readonly<Record<string, { readonly items?: object }>> };
  const withAdvice = Object.entries(properties).map(([name, property]) => {
    const advice = values[name];
    if (advice === undefined || advice.length === 0) return [name, property];
    const open = { "x-open-enum": advice };
    return [name, property.items === undefined ? { ...property, ...open } : { ...property, items: { ...property.items, ...open } }];
  });
  return { ...definition, inputSchema: { ...schema, properties: Object.fromEntries(withAdvice) } };
}
