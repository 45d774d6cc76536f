export { IN_MEMORY, inTransaction, type OpenDatabaseOptions, openDatabase, unavailable } from "./open-database.ts";
