export { connectRedisScheduleStore } from "./redis-schedule-store.ts";
