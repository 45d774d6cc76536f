import type { McpTool } from "./server-options.ts";

/**
 * Resolves with those of the tools that may be offered; with undefined as long as that cannot be said: then none is.
 */
export type ToolScreen = (tools: readonly McpTool[]) => Promise<readonly McpTool[] | undefined>;

/** Under this name the screen sees what a server says of itself, like a tool of its. No tool has it. */
export const INSTRUCTIONS = "(instructions)";

/** The words of a server about itself, once they have passed the screen. */
export type Instructions = Pick<McpTool, "description" | "isApproved">;

export interface OfferedToolsOptions {
  /** True if a tool of the name is allowed here. */
  readonly isAllowed: (toolName: string) => boolean;
  /** Decides which of the allowed tools are offered, each time they are listed and by `screenAgain`. @default all */
  readonly screen?: ToolScreen | undefined;
  /** Called after each change of what is offered. */
  readonly onChange: () => void;
}

const NO_ANNOTATIONS = { readOnly: false, idempotent: false, destructive: true, openWorld: true } as const;

/**
 * The tools that a server offers of those that it lists, and its instructions: what is allowed and passes the screen.
 * The screen may take its time and change its mind.
 */
export class OfferedTools {
  readonly #options: OfferedToolsOptions;
  #passed: readonly McpTool[] | undefined;
  #tools: readonly McpTool[] = [];
  /** As listed last, those left out that are not allowed. */
  #listed: readonly McpTool[] | undefined;
  #screenings = 0;
  #screened: Promise<void> = Promise.resolve();

  constructor(options: OfferedToolsOptions) {
    this.#options = options;
  }

  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  get instructions(): Instructions | undefined {
    return this.#passed?.find(({ name }) => name === INSTRUCTIONS);
  }

  /** True if the offer is known, even an empty one: not before the first list, nor while the screen cannot say. */
  get areKnown(): boolean {
    return this.#passed !== undefined;
  }

  /** Resolves once it is decided what is offered of them. */
  async take(tools: readonly McpTool[], instructions: string | undefined): Promise<void> {
    const allowed = tools.filter(({ name }) => this.#options.isAllowed(name));
    if (instructions !== undefined)
      allowed.push({ name: INSTRUCTIONS, description: instructions, inputSchema: {}, annotations: NO_ANNOTATIONS });
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
    const passed = screen === undefined ? listed : await screen(listed);
    if (screening !== this.#screenings) return this.#screened;
    if (JSON.stringify(passed) === JSON.stringify(this.#passed)) return;
    this.#passed = passed;
    this.#tools = passed?.filter(({ name }) => name !== INSTRUCTIONS) ?? [];
    this.#options.onChange();
  }
}
