export { type ConnectRedisJournalStoreOptions, connectRedisJournalStore } from "./redis-journal-store.ts";
