import { StoreUnavailableError } from "@rockbot/records";
import { ScheduleBook } from "../schedule-book.ts";
import type { ScheduleStore } from "../schedule-store.ts";

/**
 * A store in memory that replicas of one process share by its book.
 * @param clock in Unix milliseconds
 */
export function createTestMemoryStore(
  clock: () => number = Date.now,
  book: ScheduleBook = new ScheduleBook(),
): ScheduleStore {
  let isClosed = false;
  const use = async <T>(work: () => T): Promise<T> => {
    if (isClosed) throw new StoreUnavailableError("Cannot use the scheduled tasks: the store is closed");
    return work();
  };
  return {
    where: "memory",
    isShared: true,
    now: () => use(clock),
    read: (key) => use(() => book.read(key)),
    tasksOf: (caller) => use(() => book.tasksOf(caller)),
    write: (change) => use(() => book.write(change).outcome),
    look: (asked) => use(() => book.look(asked, clock())),
    leave: (replica) => use(() => book.leave(replica)),
    usage: (caller, day) => use(() => book.usage(caller, day)),
    charge: (caller, day, tokens) => use(() => book.charge(caller, day, tokens)),
    async [Symbol.asyncDispose]() {
      isClosed = true;
    },
  };
}
