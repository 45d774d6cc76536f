import type { DefinitionStore } from "@rockbot/agent";
import { makeDataDirectory } from "@rockbot/records";
import type { AgentConfig } from "../generated/config.ts";

export interface ConnectDefinitionsOptions {
  /** Connections at most. @default 8 */
  readonly maxConnections?: number | undefined;
  /** How long a connection, or a question to the database, may take. @default 10_000 */
  readonly timeoutMs?: number | undefined;
}

/** Connects to a database that several machines share. @throws {StoreUnavailableError} */
export type ConnectDefinitions = (url: string, options?: ConnectDefinitionsOptions) => Promise<DefinitionStore>;

type StoreSettings = Pick<AgentConfig, "databaseUrl" | "dataDirectory" | "busyTimeoutMs">;

/**
 * The store that the settings name.
 * @param connect for a database that several machines share
 * @throws {StoreUnavailableError} if it cannot be opened
 */
export async function openDefinitions(
  { databaseUrl, dataDirectory, busyTimeoutMs }: Readonly<StoreSettings>,
  connect: ConnectDefinitions,
): Promise<DefinitionStore> {
  if (databaseUrl !== undefined) return connect(databaseUrl, { timeoutMs: busyTimeoutMs });
  return (await import("./sqlite/sqlite-definition-store.ts")).openSqliteDefinitionStore(makeDataDirectory(dataDirectory), { busyTimeoutMs });
}
