import { envName } from "@rockbot/process/config";
import { busServices, type RunningService } from "@rockbot/services";

/** Tools that are not offered, and what is missing for them. */
export type OffTool = NonNullable<RunningService["off"]>[number];

/**
 * The tools that running services leave out, and those of services that lack the setting they need.
 * @param running by their names
 */
export function offTools(running: ReadonlyMap<string, RunningService>): readonly OffTool[] {
  const lacking = busServices.filter(({ name, needs }) => needs !== undefined && !running.has(name));
  return [
    ...[...running.values()].flatMap(({ off = [] }) => off),
    ...lacking.flatMap(({ tools = [], needs = "" }) =>
      tools.map((tool) => ({ tool, reason: `Set ${envName(needs)}.` })),
    ),
  ];
}

/** A line for each reason, for people. */
export function offLines(off: readonly OffTool[]): string[] {
  const byReason = Map.groupBy(off, ({ reason }) => reason);
  return [...byReason].map(([reason, tools]) => `off       ${few(tools.map(({ tool }) => tool))}. ${reason}`);
}

const few = (names: readonly string[]): string =>
  names.length <= 4 ? names.join(", ") : `${names.slice(0, 3).join(", ")} and ${names.length - 3} more`;
