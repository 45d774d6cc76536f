import type { WorkingMemory } from "@rockbot/memory";

const KEPT_MS = 24 * 3_600_000;

/** Remembers where the replies of a session went last, for those that nobody has asked for. */
export class SessionAddresses {
  readonly #memory: Pick<WorkingMemory, "of">;

  constructor(memory: Pick<WorkingMemory, "of">) {
    this.#memory = memory;
  }

  async set(caller: string, sessionId: string, topic: string): Promise<void> {
    await this.#memory.of(caller).set(keyOf(sessionId), topic, { ttlMs: KEPT_MS });
  }

  async get(caller: string, sessionId: string): Promise<string | undefined> {
    return (await this.#memory.of(caller).get(keyOf(sessionId)))?.value;
  }
}

/** No session has this namespace, whatever it is called. */
const keyOf = (sessionId: string): string => `reply/${encodeURIComponent(sessionId)}/topic`;
