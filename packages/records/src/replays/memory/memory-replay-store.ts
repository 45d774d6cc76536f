import { StoreFullError, StoreUnavailableError } from "../../store-unavailable-error.ts";
import {
  DEFAULT_REPLAY_LIMITS,
  END_KEPT_MS,
  type HeldReplay,
  NOTE_BYTES,
  REPLAY_KEPT_MS,
  type ReplayKey,
  type ReplayLimits,
  type ReplayStore,
  replayFull,
} from "../replay-store.ts";

interface Kept {
  readonly caller: string;
  readonly beginning: string;
  readonly notes: Map<string, { readonly head: string; readonly bytes: Uint8Array }>;
  attempt: number;
  size: number;
  timer: NodeJS.Timeout;
}

/** A store for one process, which ends with it. */
export function createMemoryReplayStore(limits: Partial<ReplayLimits> = {}): ReplayStore {
  const { maxBytes, maxBytesPerCaller } = { ...DEFAULT_REPLAY_LIMITS, ...limits };
  const records = new Map<string, Kept>();
  const nameOf = ({ caller, toolCallId }: ReplayKey): string => JSON.stringify([caller, toolCallId]);

  function keepFor(name: string, ms: number): NodeJS.Timeout {
    clearTimeout(records.get(name)?.timer);
    return setTimeout(() => records.delete(name), ms).unref();
  }

  function heldBy({ attempt, ...key }: HeldReplay): Kept | undefined {
    const record = records.get(nameOf(key));
    return record?.attempt === attempt ? record : undefined;
  }

  return {
    async open({ caller, toolCallId }, fresh) {
      const name = nameOf({ caller, toolCallId });
      const known = records.get(name);
      if (known === undefined && fresh === undefined) return undefined;
      const timer = keepFor(name, REPLAY_KEPT_MS);
      const record = known ?? { caller, beginning: fresh ?? "", notes: new Map(), attempt: 0, size: 0, timer };
      record.timer = timer;
      records.set(name, record);
      record.attempt++;
      const heads = new Map([...record.notes].map(([step, { head }]) => [step, head]));
      return { caller, toolCallId, attempt: record.attempt, beginning: record.beginning, heads };
    },
    async note(held, step, head, bytes) {
      const record = heldBy(held);
      if (record === undefined) return false;
      const { caller, notes } = record;
      const size = record.size + bytes.byteLength + NOTE_BYTES - (notes.has(step) ? NOTE_BYTES : 0);
      if (size > maxBytes) throw new StoreFullError(replayFull("one call", maxBytes));
      let others = 0;
      for (const other of records.values()) if (other !== record && other.caller === caller) others += other.size;
      if (others + size > maxBytesPerCaller) throw new StoreFullError(replayFull(`"${caller}"`, maxBytesPerCaller));
      record.size = size;
      record.timer = keepFor(nameOf(held), REPLAY_KEPT_MS);
      notes.set(step, { head, bytes });
      return true;
    },
    async read(key, step) {
      const note = records.get(nameOf(key))?.notes.get(step);
      if (note === undefined) throw new StoreUnavailableError("What was noted is there no more");
      return note.bytes;
    },
    async end(held) {
      const record = heldBy(held);
      if (record !== undefined) record.timer = keepFor(nameOf(held), END_KEPT_MS);
    },
    async [Symbol.asyncDispose]() {
      for (const { timer } of records.values()) clearTimeout(timer);
      records.clear();
    },
  };
}
