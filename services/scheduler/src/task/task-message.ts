import { zonedTime } from "../time/zoned-time.ts";
import type { ScheduledTask } from "./scheduled-task.ts";

/**
 * The text that the agent gets at a fire. It depends on nothing else, so that a replica that takes the fire over sends
 * the same.
 */
export function taskMessage({ name, description, zone, isOnce, grant }: ScheduledTask, fireAt: number): string {
  const kind = isOnce ? "This scheduled task runs once" : "This scheduled task is due";
  const old =
    grant === undefined
      ? " An earlier release has kept it without its rights, so this run counts as one that has read untrusted content. Scheduling it again ends that."
      : "";
  return `${kind}: "${name}", at ${zonedTime(fireAt, zone)} (${zone}). Do what it says, and answer with the result.${old}\n\n${description}`;
}
