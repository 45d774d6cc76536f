import type { ToolSource } from "./tool-source.ts";

export type ListKind = "tools" | "prompts" | "resources";

export interface ChangeWatchOptions {
  /** Whose guides are compared: they are the same for all clients. */
  readonly source: Pick<ToolSource, "getGuides">;
  /** Told which lists are to be read again. */
  readonly tell: (kinds: readonly ListKind[]) => void;
}

/** Changes that come within this time are told once: a service that comes with 40 tools is one piece of news. */
const SETTLE_MS = 100;

/** Tells clients that lists have changed: the tools' with each change, the guides' if they are others than before. */
export class ChangeWatch implements Disposable {
  readonly #options: ChangeWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #guides: string | undefined;
  #isClosed = false;

  constructor(options: ChangeWatchOptions) {
    this.#options = options;
    this.#readGuides().then(
      (guides) => (this.#guides ??= guides),
      () => {}, // the first change reads them
    );
  }

  /** Something about the tools has changed. */
  note(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => void this.#settle(), SETTLE_MS).unref();
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #settle(): Promise<void> {
    this.#timer = undefined;
    const guides = await this.#readGuides().catch(() => undefined);
    if (this.#isClosed) return;
    const isOther = guides !== undefined && guides !== this.#guides;
    this.#guides = guides ?? this.#guides;
    this.#options.tell(isOther ? ["tools", "prompts", "resources"] : ["tools"]);
  }

  async #readGuides(): Promise<string> {
    return JSON.stringify(await this.#options.source.getGuides());
  }
}
