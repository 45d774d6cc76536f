import type { Logger } from "@rockbot/bus";
import { runsNamespace, type WorkingMemory } from "@rockbot/memory";
import type { FamilySession } from "../words/family-session.ts";
import { type FamilySessionFacts, RunningSession } from "./running-session.ts";

/** Whose family it is. */
export interface FamilyKey {
  readonly caller: string;
  readonly rootSessionId: string;
}

/** Turns of one family that are remembered, those of children not counted. The oldest gives way. */
const MAX_TURNS = 20;
const KEPT_MS = 24 * 3_600_000;
/** How often a turn that runs is written down, and looked after whether somebody cancels it. */
const LOOK_MS = 1_000;
/** As long as the longest call. */
const CANCEL_KEPT_MS = 20 * 60_000;

/**
 * Remembers for a day what the sessions of families did, in the working memory of their caller. A memory that is away
 * holds up no turn.
 */
export class FamilyRecords {
  readonly #memory: Pick<WorkingMemory, "of">;
  readonly #log: Logger;
  readonly #written = new WeakMap<RunningSession, string>();

  constructor(memory: Pick<WorkingMemory, "of">, log: Logger) {
    this.#memory = memory;
    this.#log = log;
  }

  /** @param isTakenUp whether a process before has left something of it */
  async begin(
    key: FamilyKey,
    facts: FamilySessionFacts,
    isTakenUp: boolean,
  ): Promise<{ readonly session: RunningSession } & Disposable> {
    const turnKey = keysOf(key).turn(facts.turnId);
    const before = isTakenUp ? await this.#read(key, turnKey).catch(() => undefined) : undefined;
    const session = new RunningSession(facts, before);
    let writing: Promise<void> | undefined;
    let isAgain = false;
    const write = (work: () => Promise<void>): void => {
      if (writing !== undefined) {
        isAgain = true;
        return;
      }
      writing = work()
        .catch((error: unknown) => this.#log.debug({ error: String(error) }, "could not write down what a family does"))
        .finally(() => {
          writing = undefined;
          if (!isAgain) return;
          isAgain = false;
          write(() => this.#write(key, turnKey, session));
        });
    };
    write(async () => {
      await this.#makeRoom(key, turnKey);
      await this.#write(key, turnKey, session);
    });
    const looking = setInterval(() => {
      write(async () => {
        for (const turnId of await this.#cancelled(key)) session.cancel(turnId);
        await this.#write(key, turnKey, session);
      });
    }, LOOK_MS).unref();
    return {
      session,
      [Symbol.dispose]: () => {
        clearInterval(looking);
        write(() => this.#write(key, turnKey, session));
      },
    };
  }

  /** The turns of a family, the oldest first. @throws {StoreUnavailableError} */
  async list(key: FamilyKey): Promise<readonly FamilySession[]> {
    const memory = this.#memory.of(key.caller);
    const entries = await memory.list(keysOf(key).turns);
    const turns = await Promise.all(entries.map((entry) => this.#read(key, entry.key)));
    return turns.filter((turn) => turn !== undefined).sort((a, b) => a.startedAt - b.startedAt);
  }

  /**
   * Has the processes that run these turns cancel them, within a second.
   * @throws {StoreUnavailableError}
   * @throws {MemoryFullError}
   */
  async cancel(key: FamilyKey, turnIds: readonly string[]): Promise<void> {
    const entries = turnIds.map((turnId) => ({ key: `${keysOf(key).cancels}${turnId}`, value: "" }));
    await this.#memory.of(key.caller).setAll(entries, { ttlMs: CANCEL_KEPT_MS });
  }

  async #cancelled(key: FamilyKey): Promise<readonly string[]> {
    const { cancels } = keysOf(key);
    return (await this.#memory.of(key.caller).list(cancels)).map((entry) => entry.key.slice(cancels.length));
  }

  async #read({ caller }: FamilyKey, turnKey: string): Promise<FamilySession | undefined> {
    const entry = await this.#memory.of(caller).get(turnKey);
    return entry === undefined ? undefined : (JSON.parse(entry.value) as FamilySession);
  }

  async #write({ caller }: FamilyKey, turnKey: string, session: RunningSession): Promise<void> {
    const text = JSON.stringify(session.view());
    if (this.#written.get(session) === text) return;
    await this.#memory.of(caller).set(turnKey, text, { ttlMs: KEPT_MS });
    this.#written.set(session, text);
  }

  async #makeRoom(key: FamilyKey, turnKey: string): Promise<void> {
    const memory = this.#memory.of(key.caller);
    const known = (await memory.list(keysOf(key).turns))
      .filter((entry) => entry.key !== turnKey)
      .sort((a, b) => a.storedAt - b.storedAt);
    for (const { key: old } of known.slice(0, Math.max(0, known.length - MAX_TURNS + 1))) await memory.delete(old);
  }
}

function keysOf({ rootSessionId }: FamilyKey) {
  const namespace = runsNamespace(rootSessionId);
  return {
    turns: `${namespace}/turns/`,
    turn: (turnId: string) => `${namespace}/turns/${turnId}`,
    cancels: `${namespace}/cancel/`,
  };
}
