export { connectRedisJournalStore, type JournalLimits } from "./redis-journal-store.ts";
