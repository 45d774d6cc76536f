import type { Bus } from "@rockbot/bus";
import { openStation, type Station, type StationOptions } from "./caller-station.ts";

/**
 * A caller's station under the name that it has now. A caller that loses its name gets another. Calls that wait at an
 * earlier station have their answers there.
 */
export interface HeldStation extends AsyncDisposable {
  readonly current: Station;
  /** A call that has ended wants no progress any more. Closes stations of before at which nothing waits now. */
  ended(toolCallId: string): void;
}

/** @param onNamed called with the first name, and with each further one */
export async function holdStation(
  bus: Bus,
  options: StationOptions,
  onNamed: (address: string) => void,
): Promise<HeldStation> {
  let isClosed = false;
  let current = await openStation(bus, options);
  onNamed(current.address);
  /** Under names that were lost, as long as calls wait there. */
  const left = new Set<Station>();

  function watch({ lost }: Station): void {
    void lost?.then(async () => {
      if (isClosed) return;
      const next = await openStation(bus, options);
      if (isClosed) return next[Symbol.asyncDispose]();
      left.add(current);
      current = next;
      onNamed(next.address);
      watch(next);
    });
  }
  watch(current);

  return {
    get current() {
      return current;
    },
    ended(toolCallId) {
      current.progress.forget(toolCallId);
      for (const old of left) {
        old.progress.forget(toolCallId);
        if (old.requester.pending > 0) continue;
        left.delete(old);
        void old[Symbol.asyncDispose]();
      }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      await Promise.all([current, ...left].map((each) => each[Symbol.asyncDispose]()));
    },
  };
}
