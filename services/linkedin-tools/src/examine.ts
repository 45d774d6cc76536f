import type { LinkedinToolsConfig } from "./generated/config.ts";

/** For `rockbot doctor`: whether the operator has decided about robots.txt. */
export function examine({ linkedinRobots }: Readonly<LinkedinToolsConfig>) {
  const isSet = linkedinRobots !== undefined;
  const message = isSet
    ? linkedinRobots
    : "not set, so linkedin_jobs and linkedin_job_detail are off. Set it to obey or ignore";
  return [{ what: "LINKEDIN_ROBOTS", state: isSet ? "ok" : "off", message } as const];
}
