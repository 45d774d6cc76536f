import { makeDataDirectory } from "@rockbot/records";
import type { AgentConfig } from "../generated/config.ts";
import type { AgentRecords, ConnectAgentRecords } from "./agent-records.ts";

type StoreSettings = Pick<AgentConfig, "databaseUrl" | "dataDirectory" | "busyTimeoutMs">;

/**
 * The database that the settings name.
 * @param connect for a database that several machines share
 * @throws {StoreUnavailableError} if it cannot be opened
 */
export async function openAgentRecords(
  { databaseUrl, dataDirectory, busyTimeoutMs }: Readonly<StoreSettings>,
  connect: ConnectAgentRecords,
): Promise<AgentRecords> {
  if (databaseUrl !== undefined) return connect(databaseUrl, { timeoutMs: busyTimeoutMs });
  return (await import("./sqlite/sqlite-agent-records.ts")).openSqliteAgentRecords(makeDataDirectory(dataDirectory), {
    busyTimeoutMs,
  });
}
