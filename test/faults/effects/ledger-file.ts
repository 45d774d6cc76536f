import { closeSync, openSync, writeSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * `effect`: a tool has done what it is for. `answered`: the bus has confirmed an answer. `aborted`: a tool got the
 * signal to stop. `received`: an agent has an answer.
 */
export type LedgerEvent = "effect" | "answered" | "aborted" | "received";

/**
 * Appends lines that outlive the process that writes them, whenever it dies: the system has them, and a wait for the
 * disk would hold up all of the process.
 */
export function openLedger(file: string): Disposable & { write(event: LedgerEvent, id: string): void } {
  const descriptor = openSync(file, "a"); // O_APPEND: lines of several processes do not mix
  return {
    write(event, id) {
      writeSync(descriptor, `${event} ${id} ${Date.now()}\n`);
    },
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}

/** What services have written down, counted by call. */
export interface LedgerFile extends AsyncDisposable {
  readonly path: string;
  count(event: LedgerEvent): Promise<ReadonlyMap<string, number>>;
  /** When it was written down last, in Unix milliseconds. */
  times(event: LedgerEvent): Promise<ReadonlyMap<string, number>>;
}

export async function createLedgerFile(): Promise<LedgerFile> {
  const folder = await mkdtemp(join(tmpdir(), "rockbot-ledger-"));
  const path = join(folder, "ledger");
  openLedger(path)[Symbol.dispose]();
  async function read(event: LedgerEvent): Promise<[id: string, at: number][]> {
    const lines = (await readFile(path, "utf8")).split("\n").map((line) => line.split(" "));
    return lines.filter(([written]) => written === event).map(([, id = "", at]) => [id, Number(at)]);
  }
  return {
    path,
    async count(event) {
      const counts = new Map<string, number>();
      for (const [id] of await read(event)) counts.set(id, (counts.get(id) ?? 0) + 1);
      return counts;
    },
    times: async (event) => new Map(await read(event)),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
