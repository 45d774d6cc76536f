import { setTimeout as sleep } from "node:timers/promises";
import { RenewingLease } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { newId } from "@rockbot/contracts";
import type { JournalStore } from "./journal-store.ts";

/** The right to an instance's name, and with it to the result queue and the journal of that name. */
export interface SlotLease extends AsyncDisposable {
  /** `0`, `1`, … */
  readonly instance: string;
  /** Resolves if somebody else has the slot: this process was silent for longer than the lease. */
  readonly lost: Promise<void>;
}

/** How long a slot is leased, and where a loss is logged. */
export interface LeaseSlotOptions {
  readonly log: Logger;
  /** How long a slot is kept for one that shows no sign of life. @default 4_000 */
  readonly leaseMs?: number | undefined;
}

/**
 * Leases the lowest slot of an agent that nobody holds. Where slots are held, it looks for longer than a renewal takes.
 * The holder of a slot without a renewal is dead, and most likely the process that this one replaces. So it waits for
 * that slot. It takes `leaseMs` at most to find one. Disposal gives the slot back.
 * @returns undefined if all slots are held
 * @throws {StoreUnavailableError} if the store does not say
 */
export async function leaseSlot(
  store: JournalStore,
  agent: string,
  { log, leaseMs = 4_000 }: LeaseSlotOptions,
): Promise<SlotLease | undefined> {
  const owner = newId();
  const slot = await findSlot(store, agent, { owner, leaseMs });
  if (slot === undefined) return undefined;
  log.info({ agent, instance: String(slot) }, "leased an instance name");

  const lease = new RenewingLease({ leaseMs, renew: () => store.holdSlot(agent, slot, { owner, leaseMs }) });
  const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
  lease.lost.addEventListener("abort", () => {
    log.error(
      { agent, instance: String(slot) },
      "lost the lease of the instance name to another process, and leases a new one",
    );
    lose();
  });
  return {
    instance: String(slot),
    lost,
    async [Symbol.asyncDispose]() {
      await lease[Symbol.asyncDispose]();
      if (!lease.lost.aborted) await store.releaseSlot(agent, slot, owner).catch(() => {}); // the lease ends by itself
    },
  };
}

async function findSlot(
  store: JournalStore,
  agent: string,
  { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
): Promise<number | undefined> {
  const before = await store.readSlots(agent);
  const held = before.some((leftMs) => leftMs > 0);
  const watchMs = (1.5 * leaseMs) / 4; // a holder renews each quarter
  if (held) await sleep(watchMs);
  const after = held ? await store.readSlots(agent) : before;
  for (const [slot, leftMs] of after.entries()) {
    const isDead = leftMs > 0 && leftMs <= Math.min((before[slot] ?? 0) - watchMs / 2, leaseMs); // a longer lease is not waited for
    if (leftMs > 0 && !isDead) continue;
    if (isDead) await sleep(leftMs + 20);
    if (await store.holdSlot(agent, slot, { owner, leaseMs })) return slot;
  }
  return undefined;
}
