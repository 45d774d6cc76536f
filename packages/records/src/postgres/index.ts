export {
  connectPostgres,
  type PostgresClient,
  type PostgresDatabase,
  type PostgresRow,
  type PostgresSchema,
} from "./connect-postgres.ts";
