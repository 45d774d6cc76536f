/** Where a service can die over a call, in the order in which a call comes by. */
export const killPoints = ["before claim", "after claim", "after effect", "after store", "after publish"] as const;
export type KillPoint = (typeof killPoints)[number];

/**
 * Ends this process by SIGKILL once `calls` calls wait at `at`: each of them is exactly there when it dies. Who comes
 * to another point passes.
 */
export class KillSwitch {
  readonly #at: KillPoint | undefined;
  readonly #calls: number;
  #waiting = 0;

  constructor({ at, calls }: { readonly at?: KillPoint | undefined; readonly calls: number }) {
    this.#at = at;
    this.#calls = calls;
  }

  async reach(point: KillPoint): Promise<void> {
    if (point !== this.#at) return;
    if (++this.#waiting >= this.#calls) process.kill(process.pid, "SIGKILL");
    await new Promise(() => {}); // ends with the process
  }
}
