export { connectRedisSummaryStore } from "./redis-summary-store.ts";
