import type { McpTool } from "./server-options.ts";

/** Resolves with those of the tools that may be offered; with undefined as long as that cannot be said: then none is. */
export type ToolScreen = (tools: readonly McpTool[]) => Promise<readonly McpTool[] | undefined>;

export interface OfferedToolsOptions {
  /** Whether a tool of the name is allowed here. */
  readonly isAllowed: (toolName: string) => boolean;
  /** Decides which of the allowed tools are offered, each time they are listed and by `screenAgain`. @default all */
  readonly screen?: ToolScreen | undefined;
  /** Called after each change of what is offered. */
  readonly onChange: () => void;
}

/** The tools that a server offers of those that it lists: those that are allowed and pass the screen. The screen may take its time and change its mind. */
export class OfferedTools {
  readonly #options: OfferedToolsOptions;
  #tools: readonly McpTool[] | undefined;
  /** As listed last, those left out that are not allowed. */
  #listed: readonly McpTool[] | undefined;
  #screenings = 0;
  #screened: Promise<void> = Promise.resolve();

  constructor(options: OfferedToolsOptions) {
    this.#options = options;
  }

  get tools(): readonly McpTool[] {
    return this.#tools ?? [];
  }

  /** Whether it is known what is offered, be it nothing: not before the first list, nor while the screen cannot say. */
  get areKnown(): boolean {
    return this.#tools !== undefined;
  }

  /** Resolves once it is decided what is offered of them. */
  async take(tools: readonly McpTool[]): Promise<void> {
    const allowed = tools.filter(({ name }) => this.#options.isAllowed(name));
    if (JSON.stringify(allowed) !== JSON.stringify(this.#listed)) this.#listed = allowed;
    await this.#screen(this.#listed ?? allowed);
  }

  /** The screen may let other tools pass by now: asks it once more. */
  async screenAgain(): Promise<void> {
    if (this.#listed !== undefined) await this.#screen(this.#listed);
  }

  /** Resolves once what was asked last is decided, be it by a later asking. */
  #screen(listed: readonly McpTool[]): Promise<void> {
    this.#screened = this.#takeScreened(++this.#screenings, listed);
    return this.#screened;
  }

  async #takeScreened(screening: number, listed: readonly McpTool[]): Promise<void> {
    const { screen } = this.#options;
    const tools = screen === undefined ? listed : await screen(listed);
    if (screening !== this.#screenings) return this.#screened;
    if (JSON.stringify(tools) === JSON.stringify(this.#tools)) return;
    this.#tools = tools;
    this.#options.onChange();
  }
}
