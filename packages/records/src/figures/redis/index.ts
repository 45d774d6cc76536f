export { connectRedisFigureStore } from "./redis-figure-store.ts";
