export { inTransaction, type OpenDatabaseOptions, openDatabase, unavailable } from "./open-database.ts";
