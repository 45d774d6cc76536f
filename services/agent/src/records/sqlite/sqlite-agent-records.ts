import { join } from "node:path";
import { type DefinitionStore, type KeptDefinition, MAX_SWITCHED } from "@rockbot/agent";
import { openDatabase } from "@rockbot/records/sqlite";
import type { AgentRecords } from "../agent-records.ts";
import { migrations } from "./migrations.ts";
import { SharedDatabase } from "./shared-database.ts";
import { SqliteRecordStore } from "./sqlite-record-store.ts";

export interface OpenSqliteAgentRecordsOptions {
  /** How long a change waits for others. @default 10_000 */
  readonly busyTimeoutMs?: number | undefined;
}

const FILE = "agents.db";

/**
 * Keeps what callers have made in a file of the folder, which several processes may use at once.
 * @throws {StoreUnavailableError} if the file cannot be opened
 */
export async function openSqliteAgentRecords(
  folder: string,
  { busyTimeoutMs = 10_000 }: OpenSqliteAgentRecordsOptions = {},
): Promise<AgentRecords> {
  const file = join(folder, FILE);
  const database = new SharedDatabase(
    file,
    await openDatabase(file, { holds: "the agents", migrations, busyTimeoutMs }),
    busyTimeoutMs,
  );
  return {
    where: database.where,
    definitions: new SqliteDefinitionStore(database, "definition"),
    skills: new SqliteRecordStore(database, "skill"),
    wisps: new SqliteRecordStore(database, "wisp"),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

class SqliteDefinitionStore extends SqliteRecordStore<KeptDefinition> implements DefinitionStore {
  switchSession(caller: string, session: string, id: string | undefined): Promise<void> {
    return this.database.change("save to", () => {
      this.database.run("DELETE FROM switched WHERE caller = ? AND session = ?", caller, session);
      if (id === undefined) return;
      this.database.run("INSERT INTO switched (caller, session, definition) VALUES (?, ?, ?)", caller, session, id);
      this.database.run("DELETE FROM switched WHERE seq <= (SELECT max(seq) FROM switched) - ?", MAX_SWITCHED);
    });
  }

  async switchedTo(caller: string, session: string): Promise<string | undefined> {
    const sql = "SELECT definition FROM switched WHERE caller = ? AND session = ?";
    return this.database.read(() => this.database.one(sql, caller, session))?.["definition"] as string | undefined;
  }
}
