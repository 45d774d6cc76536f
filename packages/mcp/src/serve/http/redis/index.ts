export { connectRedisSharedSessions } from "./redis-shared-sessions.ts";
