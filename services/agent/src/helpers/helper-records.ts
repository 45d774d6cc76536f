import { familyNamespace, MemoryChangedError, type WorkingMemory } from "@rockbot/memory";

/** What is known of a helper. */
export interface HelperRecord {
  /** 12 hex digits. */
  readonly taskId: string;
  /** The first 200 characters. */
  readonly description: string;
  readonly state: "waiting" | "running" | "done" | "failed" | "cancelled";
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** When its request is of no use any more, in Unix milliseconds. */
  readonly endsBy?: number | undefined;
  readonly endedAt?: number | undefined;
  /** What it has said last. */
  readonly progress?: string | undefined;
  /** What it came to: the first MAX_RESULT characters. */
  readonly result?: string | undefined;
  /** True if it had read untrusted content by its last change. */
  readonly isUntrusted?: boolean | undefined;
  /** It has failed, and its conversation was not told yet. */
  readonly isUntold?: boolean | undefined;
  /** The id of the turn beside whose message that stood. */
  readonly toldIn?: string | undefined;
  /** How many helpers, this one too, were started since a user's turn by turns about a helper's end. */
  readonly unattended?: number | undefined;
}

/** What an addition keeps to. */
export interface HelperBounds {
  readonly maxActive: number;
  readonly maxUnattended: number;
  /** True if the turn that starts the helper is about a helper's end, so that no user has asked for it. */
  readonly isUnattended: boolean;
}

/** Why a helper is not added: those that work, or how many were started in a row without a user. */
export type HelperRefusal = { readonly active: readonly HelperRecord[] } | { readonly unattended: number };

/** A day after its last change a helper is forgotten. */
const KEPT_MS = 24 * 3_600_000;
export const MAX_RESULT = 20_000;
/** The bound of one family. The oldest that has ended is forgotten for a new one. */
const MAX_KEPT = 20;

export const isActive = ({ state }: HelperRecord): boolean => state === "waiting" || state === "running";

/**
 * The helpers of families of sessions, in the working memory of their caller.
 * @throws {StoreUnavailableError} from each method, if the memory is away
 */
export class HelperRecords {
  readonly #memory: Pick<WorkingMemory, "of">;
  /**
   * By family, the addition that others wait for: the calls of one answer come at once. A session's turns are in one
   * process.
   */
  readonly #adding = new Map<string, Promise<unknown>>();

  constructor(memory: Pick<WorkingMemory, "of">) {
    this.#memory = memory;
  }

  /** Lists the helpers of a family, the oldest first. */
  async list(caller: string, rootSessionId: string): Promise<readonly HelperRecord[]> {
    const memory = this.#memory.of(caller);
    const entries = await memory.list(`${folderOf(rootSessionId)}/`);
    const records = await Promise.all(entries.map(({ key }) => memory.get(key)));
    return records
      .flatMap((entry) => (entry === undefined ? [] : [parsed(entry.value)]))
      .sort((a, b) => a.startedAt - b.startedAt);
  }

  async get(caller: string, rootSessionId: string, taskId: string): Promise<HelperRecord | undefined> {
    const entry = await this.#memory.of(caller).get(keyOf(rootSessionId, taskId));
    return entry === undefined ? undefined : parsed(entry.value);
  }

  /**
   * Adds a helper, unless it is there, or the bounds forbid it.
   * @returns why it is not added, if they do
   * @throws {MemoryFullError}
   */
  add(
    caller: string,
    rootSessionId: string,
    record: HelperRecord,
    bounds?: HelperBounds,
  ): Promise<HelperRefusal | undefined> {
    const family = JSON.stringify([caller, rootSessionId]);
    const before = this.#adding.get(family) ?? Promise.resolve();
    const adding = before.catch(() => {}).then(() => this.#add(caller, rootSessionId, record, bounds));
    this.#adding.set(family, adding);
    return adding.finally(() => {
      if (this.#adding.get(family) === adding) this.#adding.delete(family);
    });
  }

  async #add(
    caller: string,
    rootSessionId: string,
    record: HelperRecord,
    bounds: HelperBounds | undefined,
  ): Promise<HelperRefusal | undefined> {
    const memory = this.#memory.of(caller);
    const known = await this.list(caller, rootSessionId);
    if (known.some(({ taskId }) => taskId === record.taskId)) return undefined;
    const active = known.filter(isActive);
    const before = known.at(-1)?.unattended ?? 0;
    if (bounds !== undefined && active.length >= bounds.maxActive) return { active };
    if (bounds?.isUnattended && before >= bounds.maxUnattended) return { unattended: before };
    const added: HelperRecord = bounds?.isUnattended ? { ...record, unattended: before + 1 } : record;
    const ended = known.filter((each) => !isActive(each));
    for (const { taskId } of ended.slice(0, Math.max(0, ended.length - MAX_KEPT + 1)))
      await memory.delete(keyOf(rootSessionId, taskId));
    await memory
      .set(keyOf(rootSessionId, record.taskId), JSON.stringify(added), { ttlMs: KEPT_MS, ifVersion: null })
      .catch((error: unknown) => {
        if (!(error instanceof MemoryChangedError)) throw error;
      });
    return undefined;
  }

  /**
   * Takes the failed helpers of a family that no other turn has reported. They count as reported from now on, and come
   * again only to this turn, if another process takes it up.
   * @param but the one that this turn is about
   */
  async takeUntold(
    caller: string,
    rootSessionId: string,
    { turnId, but }: { readonly turnId: string; readonly but?: string | undefined },
  ) {
    const known = await this.list(caller, rootSessionId);
    const untold = known.filter((record) => record.taskId !== but && (isUntold(record) || record.toldIn === turnId));
    for (const { taskId } of untold)
      await this.change(caller, rootSessionId, taskId, { isUntold: false, toldIn: turnId }, isUntold);
    return untold;
  }

  /**
   * Changes a helper that has not ended, and nothing of one that has.
   * @param mayChange which one it changes @returns as it is then; undefined if it is forgotten
   */
  async change(
    caller: string,
    rootSessionId: string,
    taskId: string,
    changes: Partial<HelperRecord>,
    mayChange: (record: HelperRecord) => boolean = isActive,
  ): Promise<HelperRecord | undefined> {
    const memory = this.#memory.of(caller);
    for (;;) {
      const entry = await memory.get(keyOf(rootSessionId, taskId));
      if (entry === undefined) return undefined;
      const known = parsed(entry.value);
      if (!mayChange(known)) return known;
      const changed = { ...known, ...changes };
      try {
        await memory.set(entry.key, JSON.stringify(changed), { ttlMs: KEPT_MS, ifVersion: entry.version });
        return changed;
      } catch (error) {
        if (!(error instanceof MemoryChangedError)) throw error; // somebody else was faster: looks again
      }
    }
  }
}

export const isUntold = (record: HelperRecord): boolean => record.isUntold === true;

const folderOf = (rootSessionId: string): string => `${familyNamespace(rootSessionId)}/helpers`;
const keyOf = (rootSessionId: string, taskId: string): string => `${folderOf(rootSessionId)}/${taskId}`;

/** A helper whose request is of no use any more has ended, though nobody was left to say so. */
function parsed(value: string): HelperRecord {
  const record = JSON.parse(value) as HelperRecord;
  const { endsBy = Number.POSITIVE_INFINITY } = record;
  return isActive(record) && Date.now() > endsBy
    ? { ...record, state: "failed", endedAt: endsBy, progress: "it did not end in its time", isUntold: true }
    : record;
}
