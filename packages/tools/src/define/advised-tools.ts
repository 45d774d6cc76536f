import type { ToolDefinition, ToolGuide } from "@rockbot/contracts";
import type { Tool } from "./define-tool.ts";
import type { ToolProvider } from "./tool-provider.ts";

export interface AdvisedToolsOptions<Advice> {
  /** The advice at the start. It has a form in JSON. */
  readonly advice: Advice;
  /** The tools with the advice in their schemas. */
  readonly tools: (advice: Advice) => readonly Tool[];
  readonly guides?: readonly ToolGuide[] | undefined;
}

/** Tools whose schemas have values of now as advice for models. Other advice announces them anew. */
export class AdvisedTools<Advice> implements ToolProvider {
  readonly guides: readonly ToolGuide[];
  readonly #make: (advice: Advice) => readonly Tool[];
  readonly #listeners = new Set<() => void>();
  #advice: string;
  #tools: readonly Tool[];

  constructor({ advice, tools, guides = [] }: AdvisedToolsOptions<Advice>) {
    this.guides = guides;
    this.#make = tools;
    this.#advice = JSON.stringify(advice);
    this.#tools = tools(advice);
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
    this.#tools = this.#make(advice);
    for (const listener of this.#listeners) listener();
  }
}

type Values = Readonly<Record<string, readonly string[]>>;

/**
 * The definition with values as advice for its arguments, or for their items.
 * @param only the values that are right now
 * @param some values besides which others are right, too
 */
export function advised<Input, Output>(
  definition: ToolDefinition<Input, Output>,
  only: Values,
  some: Values = {},
): ToolDefinition<Input, Output> {
  const { properties, ...schema } = definition.inputSchema as {
    readonly properties: Readonly<Record<string, { readonly items?: object }>>;
  };
  const withAdvice = Object.entries(properties).map(([name, property]) => {
    const [keyword, advice = []] = name in only ? ["x-enum-now", only[name]] : ["x-open-enum", some[name]];
    if (advice.length === 0) return [name, property];
    const told = { [keyword]: advice };
    return [
      name,
      property.items === undefined ? { ...property, ...told } : { ...property, items: { ...property.items, ...told } },
    ];
  });
  return { ...definition, inputSchema: { ...schema, properties: Object.fromEntries(withAdvice) } };
}
