import { resolve } from "node:path";
import type { Finding } from "@rockbot/process";
import type { SchedulerConfig } from "./generated/config.ts";
import { systemTimeZone } from "./time/zoned-time.ts";

/** For `rockbot doctor`: where scheduled tasks are kept, and in which zone their times are. */
export async function examine(
  { timezone, redisUrl, schedulesFile }: Readonly<SchedulerConfig>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  const what = "scheduled tasks";
  const times = `times are in the zone ${timezone ?? `${systemTimeZone()}, that of this machine: TIMEZONE sets another`}`;
  const setting = `change it with SCHEDULES_FILE${env["DATA_DIRECTORY"] ? "; DATA_DIRECTORY has no effect on it" : ""}`;
  const place = redisUrl === undefined ? `${resolve(schedulesFile)}: ${setting}` : "Redis";
  return [{ what, state: "ok", message: `kept in ${place}; ${times}` }];
}
