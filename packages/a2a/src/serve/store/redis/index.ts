export { connectRedisTaskStore } from "./redis-task-store.ts";
