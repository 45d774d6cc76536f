/** Something that a caller has made: a definition of an agent, or a skill. An operator shares it with others. */
export interface KeptRecord {
  /** 24 hexadecimal digits. */
  readonly id: string;
  /** The effective caller that wrote it. */
  readonly maker: string;
  readonly name: string;
  /** What bounds its use: what the session was bounded by that wrote it; FROM_BEFORE of one that was kept without. */
  readonly grant?: string | undefined;
  /** A turn that had read untrusted content has written it. */
  readonly isUntrusted: boolean;
  /** The hash of what a model reads of it. */
  readonly hash: string;
  /** The hash that an operator has approved; the record is shared while that is its own. */
  readonly approvedHash?: string | undefined;
  /** One more with each change. */
  readonly version: number;
  /** The time of the first saving, in Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Callers see their own records, and those that an operator has approved as they are. */
export const isVisibleTo = (
  { maker, hash, approvedHash }: Pick<KeptRecord, "maker" | "hash" | "approvedHash">,
  caller: string,
): boolean => maker === caller || approvedHash === hash;

/** The form of ids: 24 hexadecimal digits. */
export const isRecordId = (text: string): boolean => /^[0-9a-f]{24}$/.test(text);

/** The outcome of a change that was for one version alone. */
export type ChangeOutcome = "changed" | "gone" | "stale";

/** Records of a kind that a caller sees at most: its own first, then the oldest. */
export const MAX_VISIBLE = 2_000;
/** Characters of the records of one kind that a maker has: each turn of its sessions reads them all. */
export const MAX_CHARS_OF_MAKER = 4 * 1024 * 1024;

/**
 * Keeps records of one kind. All instances see a change once it is made. A change is there in full or not at all.
 * Every method throws StoreUnavailableError if the database is away.
 */
export interface RecordStore<T extends KeptRecord> {
  /** The place of the store in words for an operator, without secrets. */
  readonly where: string;
  /**
   * Keeps a new one.
   * @returns `taken` if its maker has one of that name, `there` if there is one of that id, `full` if its maker has
   * `maxOfMaker`, and `large` if its maker's would have more than MAX_CHARS_OF_MAKER
   */
  create(record: T, maxOfMaker: number): Promise<"created" | "taken" | "there" | "full" | "large">;
  get(id: string): Promise<T | undefined>;
  /** The caller's own before others, the oldest first. */
  visibleTo(caller: string): Promise<readonly T[]>;
  /** The records of all makers, by name and maker, for an operator: the first 10 000. */
  all(): Promise<readonly T[]>;
  /**
   * Puts it in the place of the one with its id, if that has the version before. An approval stays as it is.
   * @returns `taken` and `large` as create does
   */
  update(record: T): Promise<ChangeOutcome | "taken" | "large">;
  /** @param version only if it is that one still */
  remove(id: string, version: number): Promise<ChangeOutcome>;
  /** Shares the record, if it has this hash still. Without a hash nobody but its maker sees it from then on. */
  approve(id: string, hash: string | undefined): Promise<ChangeOutcome>;
}
