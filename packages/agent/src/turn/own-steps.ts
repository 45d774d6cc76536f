import type { ChatMessage } from "@rockbot/contracts";
import type { WorkingMemory } from "@rockbot/memory";
import { type CallPlace, callIdOf } from "../calls/call-id.ts";
import type { StoredAnswer, StoredResult } from "../store/turn-store.ts";

/** One answer of a turn, and the results of its calls in their order; null for a call that the client makes. */
export interface OwnStep {
  readonly answer: StoredAnswer;
  readonly results: readonly (StoredResult | null)[];
}

/** What a turn did itself, up to the answer that calls its client's tools. */
export interface OwnSteps {
  /** The session whose working memory has what was too large for the model. */
  readonly sessionId: string;
  readonly steps: readonly OwnStep[];
}

/** A client that has not come back by then begins without them. */
const KEPT_MS = 60 * 60_000;
/** OpenAI takes ids of 40 characters. */
const CLIENT_CALL = /^call_[0-9a-f]{32}$/;
/** The bound for one conversation. */
const MAX_FOUND = 32;

/**
 * The id of a call that goes to the client, where the turn has steps of its own: no other call of the caller has it.
 */
export const clientCallId = (place: CallPlace): string => `call_${callIdOf(place)}`;

/**
 * Keeps the steps of turns that end with calls of their client's tools. A client sends back its own calls alone. The
 * steps stand before them again in its next request, so that the model makes no call twice.
 */
export class KeptSteps {
  readonly #memory: Pick<WorkingMemory, "of">;

  constructor(memory: Pick<WorkingMemory, "of">) {
    this.#memory = memory;
  }

  /**
   * @param callId of the first call that goes to the client
   * @throws {MemoryFullError} @throws {RangeError} if the steps are too large @throws {StoreUnavailableError}
   */
  async keep(caller: string, callId: string, steps: OwnSteps): Promise<void> {
    await this.#memory.of(caller).set(keyOf(callId), JSON.stringify(steps), { ttlMs: KEPT_MS, isChunk: true });
  }

  /** The steps that belong to a conversation's newest calls, by the id of the call. @throws {StoreUnavailableError} */
  async find(caller: string, messages: readonly ChatMessage[]): Promise<ReadonlyMap<string, OwnSteps>> {
    const ids = messages.flatMap(({ tool_calls: calls }) => calls?.[0]?.id ?? []).filter((id) => CLIENT_CALL.test(id));
    const memory = this.#memory.of(caller);
    const found = await Promise.all(
      [...new Set(ids)].slice(-MAX_FOUND).map(async (id): Promise<[string, OwnSteps][]> => {
        const entry = await memory.get(keyOf(id));
        return entry === undefined ? [] : [[id, JSON.parse(entry.value) as OwnSteps]];
      }),
    );
    return new Map(found.flat());
  }
}

/** No session has this namespace, whatever it is called. */
const keyOf = (callId: string): string => `client-call/${callId}/steps`;
