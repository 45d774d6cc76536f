import type { LoadConfigOptions } from "@rockbot/process/config";
import type { SchedulerConfig } from "./generated/config.ts";
import { isTimeZone } from "./time/zoned-time.ts";

export { configSchema } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const check: NonNullable<LoadConfigOptions<SchedulerConfig>["check"]> = ({ timezone }) =>
  timezone === undefined || isTimeZone(timezone)
    ? []
    : [`timezone: expected a name of the time zone database, such as Europe/Berlin, got "${timezone}"`];
