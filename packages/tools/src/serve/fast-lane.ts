import type { Bus, Logger } from "@rockbot/bus";
import type { ToolDefinition } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";

export interface FastLaneOptions {
  readonly bus: Pick<Bus, "traits">;
  readonly service: string;
  readonly policy: Pick<PolicyHolder, "current">;
  /** Tells whether the calls of a tool come to a queue of their own. */
  readonly isAside: (tool: string) => boolean;
  readonly log: Logger;
}

type Judged = Pick<ToolDefinition, "name" | "readOnly" | "fast">;

/**
 * The fast lane of one service. Once a tool is for it, it is taken from until the service stops. Our definition or an
 * operator says which these are, never a hint of a foreign server. A bus in this process, where all is memory, needs
 * none.
 */
export class FastLane implements AsyncDisposable {
  readonly #options: FastLaneOptions;
  #taking: Promise<AsyncDisposable | undefined> | undefined;
  #isOpen = false;
  #isClosed = false;

  constructor(options: FastLaneOptions) {
    this.#options = options;
  }

  /** Tells whether calls of a tool may come by the lane now. */
  admits(tool: Judged): boolean {
    return this.#isOpen && this.#wants(tool);
  }

  /**
   * Takes from the lane from now on, if a tool is for it and none was before. Resolves once that is so, or is refused:
   * then calls come by the durable way alone, until it is tried again.
   * @returns whether it is open now, and was not before
   */
  async openFor(tools: readonly Judged[], take: () => Promise<AsyncDisposable>): Promise<boolean> {
    const { bus, service, log } = this.#options;
    if (this.#isClosed || !bus.traits.isDurable || !tools.some((tool) => this.#wants(tool))) return false;
    this.#taking ??= take().catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ service, reason }, "has no fast lane, so all calls come by the durable way");
      this.#taking = undefined;
      return undefined;
    });
    const isOpen = (await this.#taking) !== undefined;
    const isNew = isOpen && !this.#isOpen;
    this.#isOpen = isOpen;
    return isNew;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await (await this.#taking)?.[Symbol.asyncDispose]();
  }

  #wants({ name, readOnly, fast = false }: Judged): boolean {
    const { policy, isAside } = this.#options;
    return readOnly && !isAside(name) && (policy.current().isFast(name) ?? fast);
  }
}
