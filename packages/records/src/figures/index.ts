// A day of each service's calls, which several gateways draw. The store in Redis comes from ./redis.

export { DAY_BYTES, type FigureRow, type FigureStore, MAX_DAYS, ROW_BYTES } from "./figure-store.ts";
