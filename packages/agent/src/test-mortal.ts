import type { ToolCaller } from "@rockbot/tools";
import type { TurnStore } from "./store/turn-store.ts";

/** A process that dies at one of its steps. From then on it gets nothing done, and learns of nothing that was done. */
export class Mortal {
  readonly #diesAt: number;
  readonly steps: string[] = [];
  /**
   * The answers of the model that the store has kept, whether or not the process lived to hear of it; the last one is
   * kept by the turn's end.
   */
  readonly kept = new Set<number | "last">();
  isDead = false;
  readonly died = Promise.withResolvers<void>();

  constructor(diesAt: number) {
    this.#diesAt = diesAt;
  }

  /** @param phase whether the process dies before the step, or after it without learning of it */
  async step<T>(name: string, run: () => Promise<T>): Promise<T> {
    if (this.isDead) return new Promise(() => {});
    this.#count(`before ${name}`);
    if (this.isDead) return new Promise(() => {});
    const result = await run();
    if (this.isDead) return new Promise(() => {});
    this.#count(`after ${name}`);
    return this.isDead ? new Promise(() => {}) : result;
  }

  #count(name: string): void {
    this.steps.push(name);
    if (this.steps.length !== this.#diesAt) return;
    this.isDead = true;
    this.died.resolve();
  }

  store(store: TurnStore): TurnStore {
    return new Proxy(store, {
      get: (target, name) => {
        const operation = target[name as keyof TurnStore];
        const run = async (...args: unknown[]) => {
          const outcome = await (operation as (...all: unknown[]) => Promise<unknown>).apply(target, args);
          if (outcome === true && name === "addAnswer") this.kept.add(args[2] as number);
          if (outcome === true && name === "end") this.kept.add("last");
          return outcome;
        };
        if (typeof name === "symbol") return run;
        if (name === "renew") return (...args: unknown[]) => (this.isDead ? new Promise(() => {}) : run(...args)); // by the clock, so no step of the story
        return (...args: unknown[]) => this.step(name, () => run(...args));
      },
    });
  }

  caller(caller: ToolCaller): ToolCaller {
    const call: ToolCaller["call"] = (name, args, options) =>
      this.step(`call ${name}`, () => caller.call(name, args, options));
    return Object.create(caller, { call: { value: call } }) as ToolCaller;
  }
}
