import type { Finding } from "@rockbot/process";
import type { SchedulerConfig } from "./generated/config.ts";
import { systemTimeZone } from "./time/zoned-time.ts";

/** For `rockbot doctor`: where scheduled tasks are kept, and in which zone their times are. */
export async function examine({
  timezone,
  redisUrl,
  schedulesFile,
}: Readonly<SchedulerConfig>): Promise<readonly Finding[]> {
  const what = "scheduled tasks";
  const times = `times are in the zone ${timezone ?? `${systemTimeZone()}, that of this machine: TIMEZONE sets another`}`;
  return [{ what, state: "ok", message: `kept in ${redisUrl === undefined ? schedulesFile : "Redis"}; ${times}` }];
}
