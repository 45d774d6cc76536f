import { canonicalJson } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import type { Trust } from "../store/open-trust.ts";
import { unchanged, updateRecord } from "../store/trust-store.ts";
import { type HeldTool, type Pin, type PinRecord, pinRecordName, type SeenTool } from "./pin.ts";
import { readPinRecord } from "./read-pin-record.ts";
import { type PinMode, screenTools } from "./screen-tools.ts";

/** The tools that may be offered, and those that wait for an approval. */
export interface Screened<Tool> {
  readonly offered: readonly Tool[];
  /** The names of those of them that an operator or a lock file has approved. */
  readonly approved: ReadonlySet<string>;
  readonly held: readonly HeldTool[];
  /** The held tools that were not held before, for code that raises alerts. */
  readonly newlyHeld: readonly HeldTool[];
}

/**
 * The pins of all servers. This process holds to what it has read or pinned, even while the store is away or cannot be
 * written. If the store has lost a pin, it writes the pin again.
 */
export class PinBook {
  readonly #trust: Trust;
  /** The records by name. Bounded by the servers there are. */
  readonly #known = new Map<string, PinRecord>();

  constructor(trust: Trust) {
    this.#trust = trust;
  }

  /**
   * Which of the tools that a server lists now may be used: see `screenTools`. New pins and newly held tools are
   * written before this resolves, if it can be.
   * @throws {StoreUnavailableError} if the store cannot be read and nothing is known of the server
   */
  async screen<Tool extends SeenTool>(server: string, tools: readonly Tool[], mode: PinMode): Promise<Screened<Tool>> {
    const name = pinRecordName(server);
    const known = this.#known.get(name);
    const now = new Date().toISOString();
    const filed = await this.#filedPins(name);
    let offered: readonly Tool[] = [];
    let approved: ReadonlySet<string> = new Set();
    const screen = (value: unknown): PinRecord | undefined => {
      const screening = screenTools(readPinRecord(name, value) ?? known, tools, { server, mode, filed, now });
      ({ offered, approved } = screening);
      return screening.record;
    };
    let record: PinRecord | undefined;
    try {
      await updateRecord(this.#trust.store, name, (value) => {
        record = screen(value);
        return record === undefined || canonicalJson(record) === canonicalJson(value ?? null) ? unchanged : record;
      });
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      if (record === undefined) {
        if (known === undefined) throw error;
        record = screen(known);
      }
    }
    if (record !== undefined) this.#known.set(name, record);
    const before = new Set(known?.held.map(({ hash }) => hash));
    const held = record?.held ?? [];
    return { offered, approved, held, newlyHeld: held.filter(({ hash }) => !before.has(hash)) };
  }

  /** Takes in what others have pinned and held of a server. @throws {StoreUnavailableError} */
  async look(server: string): Promise<void> {
    const name = pinRecordName(server);
    const record = readPinRecord(name, (await this.#trust.store.read(name)).value);
    if (record !== undefined) this.#known.set(name, record);
  }

  /** The tools of a server that are held, as far as this process has screened it or looked. */
  held(server: string): readonly HeldTool[] {
    return this.#known.get(pinRecordName(server))?.held ?? [];
  }

  /** Forgets a server that is gone; its stored record stays. */
  forget(server: string): void {
    this.#known.delete(pinRecordName(server));
  }

  async #filedPins(name: string): Promise<readonly Pin[]> {
    const { filed } = this.#trust;
    return filed === undefined ? [] : (readPinRecord(name, (await filed.read(name)).value)?.pins ?? []);
  }
}
