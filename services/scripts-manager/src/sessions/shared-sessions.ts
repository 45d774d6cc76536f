import { createHash } from "node:crypto";
import { startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { type ContentTrust, newId } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import type { LeaseStore } from "@rockbot/records/leases";
import { type CellLine, notShared, sessionElsewhere } from "./script-session-errors.ts";

/** What processes tell each other of a session. */
export interface SharedFacts {
  readonly begunAt: number;
  readonly cells: number;
  readonly lines: readonly CellLine[];
  readonly trust?: ContentTrust | undefined;
  /** Why it is over. @default it runs where its lease is held, or went with that process */
  readonly why?: string | undefined;
}

/** The hold of a process on a session outlives it so long. */
const LEASE_MS = 30_000;
const RENEW_MS = 7_500;

/** Names sessions among the processes that share Redis: which one has a session, and what it was when it ended. */
export class SharedSessions implements AsyncDisposable {
  readonly #leases: LeaseStore;
  readonly #log: Logger;
  readonly #owner = newId();
  /** What to do if another process has come to hold one. */
  readonly #held = new Map<string, () => void>();
  /** Steps go to the store one after the other: one that frees a name would else meet one that still tells of it. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #renewing: AsyncDisposable;

  constructor(leases: LeaseStore, { log }: { readonly log: Logger }) {
    this.#leases = leases;
    this.#log = log;
    this.#renewing = startLoop(RENEW_MS, () => this.#renew());
  }

  /**
   * Takes a name for this process.
   * @param onLost called if another process has taken it, as this one did not reach the store for too long
   * @returns what is left of a session of that name that is over, or whose process is gone; the name is free then
   * @throws {ToolError} `unavailable`, if another process has it, or nobody can know
   */
  async take(caller: string, name: string, onLost: () => void = () => {}): Promise<SharedFacts | undefined> {
    return await this.#inOrder(() => this.#take(sessionKey(caller, name), name, onLost)).catch((error: unknown) => {
      throw error instanceof StoreUnavailableError ? notShared(name, error) : error;
    });
  }

  async #take(key: string, name: string, onLost: () => void): Promise<SharedFacts | undefined> {
    const { owner } = await this.#leases.hold(key, { owner: this.#owner, leaseMs: LEASE_MS });
    if (owner !== this.#owner) throw sessionElsewhere(name);
    const note = await this.#leases.readNote(key);
    const left = note === undefined || note.tag === ENDED ? undefined : (JSON.parse(note.text) as SharedFacts);
    if (left === undefined) this.#held.set(key, onLost);
    else await this.#leases.release(key, this.#owner);
    return left;
  }

  /** Tells how far a session of this process has come, or that it is over. Never rejects. */
  async tell(caller: string, name: string, facts: SharedFacts): Promise<void> {
    const key = sessionKey(caller, name);
    await this.#try("tell of a session", async () => {
      await this.#leases.leaveNote(key, this.#owner, { tag: newId(), text: JSON.stringify(facts) });
      if (facts.why !== undefined) await this.#release(key);
    });
  }

  /** Frees the name of a session that is over, and of one that never began. Never rejects. */
  async free(caller: string, name: string): Promise<void> {
    const key = sessionKey(caller, name);
    await this.#try("free the name of a session", async () => {
      const { owner } = await this.#leases.hold(key, { owner: this.#owner, leaseMs: LEASE_MS });
      if (owner !== this.#owner) return;
      await this.#leases.leaveNote(key, this.#owner, { tag: ENDED, text: "" });
      await this.#release(key);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#renewing[Symbol.asyncDispose]();
    await this.#last;
  }

  async #release(key: string): Promise<void> {
    this.#held.delete(key);
    await this.#leases.release(key, this.#owner);
  }

  async #renew(): Promise<void> {
    for (const [key, onLost] of this.#held)
      await this.#try("keep the hold on a session", async () => {
        const { owner } = await this.#leases.hold(key, { owner: this.#owner, leaseMs: LEASE_MS });
        if (owner === this.#owner || !this.#held.delete(key)) return;
        onLost();
      });
  }

  /** Never rejects. */
  async #try(what: string, step: () => Promise<unknown>): Promise<void> {
    await this.#inOrder(step).catch((error: unknown) =>
      this.#log.warn({ what, error: String(error) }, "other processes may not hear of a session of scripts"),
    );
  }

  #inOrder<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#last.then(step);
    this.#last = done.catch(() => {});
    return done;
  }
}

const ENDED = "ended";

/** Names the lease and the note of a session. */
export const sessionKey = (caller: string, name: string): string =>
  `script-session-${createHash("sha256")
    .update(JSON.stringify([caller, name]))
    .digest("hex")
    .slice(0, 40)}`;
