export { connectRedisJournalStore } from "./redis-journal-store.ts";
