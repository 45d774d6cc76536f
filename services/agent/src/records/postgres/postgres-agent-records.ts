import { type DefinitionStore, type KeptDefinition, MAX_SWITCHED } from "@rockbot/agent";
import { connectPostgres } from "@rockbot/records/postgres";
import type { AgentRecords, ConnectAgentRecordsOptions } from "../agent-records.ts";
import { migrations } from "./migrations.ts";
import { PostgresRecordStore } from "./postgres-record-store.ts";

const SCHEMA = { holds: "the agents", versionTable: "agent_version", lock: 7_206_114, migrations };

/**
 * Keeps what callers have made in a PostgreSQL database, for any number of instances.
 * @param url `postgres://user:password@host/database`
 * @throws {StoreUnavailableError} if the database cannot be reached, or newer code made its tables
 */
export async function connectPostgresAgentRecords(
  url: string,
  options: ConnectAgentRecordsOptions = {},
): Promise<AgentRecords> {
  const database = await connectPostgres(url, SCHEMA, options);
  return {
    where: database.where,
    definitions: new PostgresDefinitionStore(database, "agent_definition", SCHEMA.lock),
    skills: new PostgresRecordStore(database, "agent_skill", SCHEMA.lock),
    wisps: new PostgresRecordStore(database, "agent_wisp", SCHEMA.lock),
    [Symbol.asyncDispose]: async () => database[Symbol.asyncDispose](),
  };
}

class PostgresDefinitionStore extends PostgresRecordStore<KeptDefinition> implements DefinitionStore {
  switchSession(caller: string, session: string, id: string | undefined): Promise<void> {
    return this.database.inTransaction("save", async (client) => {
      await client.query("DELETE FROM agent_switched WHERE caller = $1 AND session = $2", [caller, session]);
      if (id === undefined) return;
      await client.query(
        `INSERT INTO agent_switched (caller, session, definition) VALUES ($1, $2, $3)
         ON CONFLICT (caller, session) DO UPDATE SET definition = excluded.definition, seq = DEFAULT`,
        [caller, session, id],
      );
      await client.query("DELETE FROM agent_switched WHERE seq <= (SELECT max(seq) FROM agent_switched) - $1", [
        MAX_SWITCHED,
      ]);
    });
  }

  async switchedTo(caller: string, session: string): Promise<string | undefined> {
    const [row] = await this.read(
      "SELECT definition FROM agent_switched WHERE caller = $1 AND session = $2",
      caller,
      session,
    );
    return row?.["definition"] as string | undefined;
  }
}
