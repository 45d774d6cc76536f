import { join } from "node:path";
import type { KeptSession, SessionShelf } from "@rockbot/agent";
import type { Logger } from "@rockbot/bus";
import { makeDataDirectory } from "@rockbot/records";
import { openDatabase } from "@rockbot/records/sqlite";
import type { AgentConfig } from "../generated/config.ts";
import { SharedDatabase } from "../records/sqlite/shared-database.ts";

/** A file of its own, so that an older release still reads the others. */
const FILE = "sessions.db";

/** The steps from each version of the database to the next. A step that was released never changes. */
const migrations: readonly string[] = [
  `
  CREATE TABLE session (
    caller TEXT NOT NULL,
    id TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    history TEXT NOT NULL,
    PRIMARY KEY (caller, id)
  ) STRICT;
  `,
];

/** Tells the operator. An agent that cannot write there answers all the same. */
export const notKept =
  (log: Logger) =>
  (error: unknown): undefined =>
    void log.warn({ reason: String(error) }, "a conversation could not be kept beyond this process");

/**
 * Conversations in a file of the data directory, for an agent without Redis.
 * @throws {StoreUnavailableError} if the file cannot be opened
 */
export async function openSessionShelf(
  { dataDirectory, busyTimeoutMs }: Readonly<Pick<AgentConfig, "dataDirectory" | "busyTimeoutMs">>,
  log: Logger,
): Promise<SessionShelf & AsyncDisposable> {
  const file = join(makeDataDirectory(dataDirectory), FILE);
  const database = new SharedDatabase(
    file,
    await openDatabase(file, { holds: "the conversations", migrations, busyTimeoutMs }),
    busyTimeoutMs,
  );
  const change = (run: () => void): Promise<void> => database.change("save to", run).catch(notKept(log));
  return {
    sessions() {
      try {
        return database.read(() => database.all("SELECT * FROM session ORDER BY used_at").map(keptOf));
      } catch (error) {
        notKept(log)(error);
        return [];
      }
    },
    put({ caller, sessionId, usedAt, sequence, history }) {
      const text = JSON.stringify(history); // as it is now
      return change(() =>
        database.run(
          "INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?)",
          caller,
          sessionId,
          usedAt,
          sequence,
          text,
        ),
      );
    },
    drop: ({ caller, sessionId }) =>
      change(() => database.run("DELETE FROM session WHERE caller = ? AND id = ?", caller, sessionId)),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

const keptOf = ({
  caller,
  id,
  used_at: usedAt,
  sequence,
  history,
}: Readonly<Record<string, unknown>>): KeptSession => ({
  caller: String(caller),
  sessionId: String(id),
  usedAt: Number(usedAt),
  sequence: Number(sequence),
  history: JSON.parse(String(history)) as KeptSession["history"],
});
