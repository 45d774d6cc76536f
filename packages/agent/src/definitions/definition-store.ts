import type { AgentDefinition } from "./agent-definition.ts";

/** A definition as it is kept. */
export interface KeptDefinition extends AgentDefinition {
  /** 24 hexadecimal digits. */
  readonly id: string;
  /** The hash that an operator has approved; the definition is shared while that is its own. */
  readonly approvedHash?: string | undefined;
  /** One more with each change. */
  readonly version: number;
  /** In Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Callers see their own definitions, and those that an operator has approved as they are. */
export const isVisibleTo = ({ maker, hash, approvedHash }: Pick<KeptDefinition, "maker" | "hash" | "approvedHash">, caller: string): boolean =>
  maker === caller || approvedHash === hash;

/** The form of ids: 24 hexadecimal digits. */
export const isDefinitionId = (text: string): boolean => /^[0-9a-f]{24}$/.test(text);

/** The outcome of a change that was for one version alone. */
export type ChangeOutcome = "changed" | "gone" | "stale";

/** Definitions that a caller sees at most: its own first, then the oldest. */
export const MAX_VISIBLE = 2_000;
/** Sessions of which the store remembers the definition. The one that was switched longest ago is forgotten. */
export const MAX_SWITCHED = 100_000;

/**
 * Keeps definitions, and which of them each session was switched to. All instances see a change once it is made. A change is there in full or not at all.
 * Every method throws StoreUnavailableError if the database is away.
 */
export interface DefinitionStore extends AsyncDisposable {
  /** In words for an operator, without secrets. */
  readonly where: string;
  /**
   * Keeps a new one.
   * @returns `taken` if its maker has one of that name, `there` if there is one of that id, and `full` if its maker has `maxOfMaker`
   */
  create(definition: KeptDefinition, maxOfMaker: number): Promise<"created" | "taken" | "there" | "full">;
  get(id: string): Promise<KeptDefinition | undefined>;
  /** By name, the caller's own before others of that name. */
  visibleTo(caller: string): Promise<readonly KeptDefinition[]>;
  /** Those of all makers, by name and maker, for an operator: the first 10 000. */
  all(): Promise<readonly KeptDefinition[]>;
  /** Puts it in the place of the one with its id, if that has the version before. An approval stays as it is. @returns `taken` as create does */
  update(definition: KeptDefinition): Promise<ChangeOutcome | "taken">;
  /** @param version only if it is that one still */
  remove(id: string, version: number): Promise<ChangeOutcome>;
  /** Shares the definition, if it has this hash still. Without a hash nobody but its maker sees it from then on. */
  approve(id: string, hash: string | undefined): Promise<ChangeOutcome>;
  /** @param id of a definition; undefined to be the plain agent again */
  switchSession(caller: string, session: string, id: string | undefined): Promise<void>;
  /** The id that a session was switched to. */
  switchedTo(caller: string, session: string): Promise<string | undefined>;
}
