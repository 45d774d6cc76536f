import { createHash } from "node:crypto";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { changeRefusal, FROM_BEFORE, keptGrant } from "./grant.ts";
import type { KeptRecord, RecordStore } from "./record-store.ts";
import { tooLarge } from "./too-large.ts";
import { withStore } from "./with-store.ts";

// Many because: skills and wisps share the saving, and tell it all in which they differ.
export interface SaveNamedOptions<T extends KeptRecord> {
  readonly kind: "skill" | "wisp";
  readonly store: Pick<RecordStore<T>, "get" | "visibleTo" | "create" | "update">;
  readonly maker: string;
  readonly name: string;
  /** The version that the maker has read, or 0 for none; if left out, it replaces any version. */
  readonly version: number | null | undefined;
  readonly maxOfMaker: number;
  readonly hasReadUntrusted: boolean;
  /** What bounds the session that saves it. */
  readonly grant: string | undefined;
  /** The present time, in Unix milliseconds. */
  readonly now: number;
  /** All that is of this kind of record alone. */
  readonly content: Omit<T, keyof KeptRecord>;
  readonly hashOf: (
    record: Omit<T, keyof KeptRecord> & Pick<KeptRecord, "name" | "maker" | "isUntrusted" | "grant">,
  ) => string;
  /** What is wrong with the content, in words. Asked only if the record would change. */
  readonly faults: () => readonly string[] | Promise<readonly string[]>;
  readonly refusal: (faults: readonly string[]) => ToolError;
}

export interface SavedRecord<T> {
  readonly record: T;
  /** False if it stood there as it is, also where an earlier run of the same call has saved it. */
  readonly isChanged: boolean;
}

/** Others may change the record in the same moment so often. */
const MAX_ATTEMPTS = 5;

/**
 * Saves a record under its maker's name for it: a new one, or the next version of the one that is there. A change takes
 * the approval away, as that is of a hash. A record that was untrusted once stays so.
 * @throws {ToolError} with all that is wrong, if its maker's have no room for it, or while the database is away
 */
export async function saveNamed<T extends KeptRecord>(options: SaveNamedOptions<T>): Promise<SavedRecord<T>> {
  const { kind } = options;
  return withStore(`save the ${kind}`, async () => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const saved = await saveOnce(options);
      if (saved !== undefined) return saved;
    }
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `The ${kind} was not saved: others change it all the time. Read it again, and try once more.`,
    );
  });
}

/** @returns undefined if another change came between */
async function saveOnce<T extends KeptRecord>(options: SaveNamedOptions<T>): Promise<SavedRecord<T> | undefined> {
  const { kind, store, maker, name, maxOfMaker, hasReadUntrusted, grant, now, content, hashOf } = options;
  const id = idOf(kind, maker, name);
  const before = await store.get(id);
  const refusal = before && changeRefusal(before.grant, grant);
  if (refusal !== undefined)
    throw new ToolError(ToolErrorCode.Denied, `The ${kind} "${name}" was not saved: ${refusal}. Choose another name.`);
  const plain = {
    ...content,
    name,
    maker,
    isUntrusted: hasReadUntrusted || before?.isUntrusted === true,
    grant: keptGrant(before?.grant, grant),
  };
  const hash = hashOf(plain);
  if (before !== undefined && hash === before.hash && before.grant !== FROM_BEFORE)
    return { record: before, isChanged: false };
  const faults = [...(await options.faults()), ...(await placeFaults(options, before))];
  if (faults.length > 0) throw options.refusal(faults);
  const { createdAt = now, approvedHash, version = 0 } = before ?? {};
  const record = {
    createdAt,
    ...(approvedHash === undefined ? {} : { approvedHash }),
    ...plain,
    id,
    hash,
    version: version + 1,
    updatedAt: now,
  } as unknown as T;
  const outcome = await (before === undefined ? store.create(record, maxOfMaker) : store.update(record));
  if (outcome === "large") throw tooLarge(kind, maker);
  if (outcome === "full") {
    const why = `"${maker}" has ${maxOfMaker} ${kind}s, which is all that it may have. Save it under the name of one that is there, or delete one`;
    throw new ToolError(ToolErrorCode.Denied, `The ${kind} was not saved. ${why}.`);
  }
  return outcome === "created" || outcome === "changed" ? { record, isChanged: true } : undefined;
}

async function placeFaults<T extends KeptRecord>(
  { kind, store, maker, name, version }: SaveNamedOptions<T>,
  before: KeptRecord | undefined,
): Promise<readonly string[]> {
  const isOthers = before === undefined && (await store.visibleTo(maker)).some((other) => other.name === name);
  const now = before?.version ?? 0;
  const there = before === undefined ? "is not there" : `is version ${now} by now`;
  return [
    ...(isOthers ? [`name: you see a ${kind} ${JSON.stringify(name)} of another caller. Choose another name`] : []),
    ...(version == null || version === now
      ? []
      : [`version: the ${kind} ${there}, not version ${version}. Read it again`]),
  ];
}

/** By its name, so that a call which is run again makes no second one. */
const idOf = (kind: string, maker: string, name: string): string =>
  createHash("sha256")
    .update(JSON.stringify([kind, maker, name]))
    .digest("hex")
    .slice(0, 24);
