import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { nearestReading } from "../cron/nearest-reading.ts";
import { CronError, type CronTimes, readCron } from "../cron/read-cron.ts";
import { tooCloseFires } from "../cron/shortest-gap.ts";
import { CallerFullError, type ChangeOutcome } from "../store/schedule-store.ts";
import { isOver, type ScheduledTask, taskKey } from "../task/scheduled-task.ts";
import { isoTime, zonedTime } from "../time/zoned-time.ts";
import { NO_BOUNDS, ownerOf, type SchedulingParts, visibleTasks } from "./scheduling-parts.ts";
import { withStore } from "./store-errors.ts";

/** `schedule_task`: makes a task, or replaces the one of that name of the same caller and session. */
export function scheduleTask(parts: SchedulingParts): Tool {
  const { store, zone, onScheduled } = parts;
  return defineTool(tools.scheduleTask, (input, context) =>
    withStore("schedule the task", async () => {
      const { caller, sessionId } = ownerOf(context);
      const refusal = parts.refusalFor(caller);
      if (refusal !== undefined)
        throw new ToolError(ToolErrorCode.Denied, `Cannot schedule the task: no run of it could begin, as ${refusal}`, {
          details: { reason: "policy" },
        });
      const [name, cron, isOnce] = [
        input.name.trim(),
        input.cron.trim().replaceAll(/\s+/g, " "),
        input.run_once === true,
      ];
      const now = await store.now();
      const { times, fires } = readFires(cron, isOnce, { ...parts, now });
      const key = taskKey({ caller, sessionId, name });
      const task: ScheduledTask = {
        key,
        id: context.toolCallId,
        caller,
        sessionId,
        name,
        cron,
        zone,
        description: input.description,
        isOnce,
        hasReadUntrusted: context.hasReadUntrusted === true,
        grant: context.grant ?? NO_BOUNDS,
        createdAt: now,
        nextAt: times.next(now),
      };
      const replaced = await put(task, context, parts);
      onScheduled();
      const shown = fires.map((at) => zonedTime(at, zone));
      const runs = isOnce ? `It runs once, at ${shown[0]}` : `Its next runs are at ${shown.join("; ")}`;
      return {
        content: `${replaced ? "Replaced" : "Scheduled"} the task "${name}" (${cron}). ${runs}. Time zone: ${zone}. It is now ${zonedTime(now, zone)}.${parts.isAgentThere() ? "" : NO_AGENT}`,
        structured: {
          name,
          cron,
          run_once: isOnce,
          replaced,
          next_fires: fires.map((at) => isoTime(at, zone)),
          now: isoTime(now, zone),
          time_zone: zone,
        },
      };
    }),
  );
}

const NO_AGENT = " No agent is on the bus now: as long as there is none, its runs fail.";

/** @throws {ToolError} if the caller has too many tasks */
async function put(task: ScheduledTask, asker: Asker, { store, maxTasks }: SchedulingParts): Promise<boolean> {
  const { key, caller } = task;
  for (;;) {
    const before = await store.read(key);
    // The end of a run that goes on is noted, and no fire comes beside it.
    const { running, lastRun, earlierRuns } = before?.task ?? {};
    let outcome: ChangeOutcome;
    try {
      outcome = await store.write({
        key,
        caller,
        version: before?.version,
        task: { ...task, running, lastRun, earlierRuns },
        maxTasks,
      });
    } catch (error) {
      if (error instanceof CallerFullError && (await madeRoom(asker, store))) continue;
      throw error;
    }
    if (outcome === "written") return before !== undefined && !isOver(before.task);
    if (outcome === "no_room" && !(await madeRoom(asker, store))) {
      throw new ToolError(
        ToolErrorCode.Denied,
        `Cannot schedule "${task.name}": ${maxTasks} tasks of one caller, in all its conversations, are the most, or the scheduler is full. Cancel one that is not needed.`,
        { details: { reason: "too_many_tasks" } },
      );
    }
  }
}

type Asker = Parameters<typeof visibleTasks>[1];

/**
 * Deletes the oldest of the visible tasks that are there for their answers alone.
 * @returns false if there is none
 */
async function madeRoom(asker: Asker, store: SchedulingParts["store"]): Promise<boolean> {
  const over = (await visibleTasks(store, asker)).visible
    .filter(isOver)
    .sort((a, b) => (a.keptUntil ?? 0) - (b.keptUntil ?? 0));
  for (const { key, caller } of over) {
    const stored = await store.read(key);
    if (
      stored !== undefined &&
      isOver(stored.task) &&
      (await store.write({ key, caller, version: stored.version, task: undefined })) === "written"
    )
      return true;
  }
  return false;
}

/** The next fires, in the form that users see. @throws {ToolError} with all that is wrong with the expression */
function readFires(
  cron: string,
  isOnce: boolean,
  { zone, shortestIntervalMs, now }: SchedulingParts & { readonly now: number },
): { readonly times: CronTimes; readonly fires: readonly number[] } {
  let times: CronTimes;
  try {
    times = readCron(cron, zone);
  } catch (error) {
    if (!(error instanceof CronError)) throw error;
    throw refused(`cron "${cron}" cannot be read: ${error.message}.${suggestion(cron, { zone, now })}`);
  }
  const first = times.next(now);
  if (first === undefined) throw refused(`cron "${cron}" never fires.${suggestion(cron, { zone, now })}`);
  if (isOnce) return { times, fires: [first] };
  const close = tooCloseFires(times, { from: now, leastMs: shortestIntervalMs });
  if (close !== undefined) {
    const [before, after] = close.map((at) => zonedTime(at, zone));
    throw refused(
      `cron "${cron}" fires at ${before} and again at ${after}: the shortest interval here is ${shortestIntervalMs / 1_000} seconds`,
    );
  }
  const second = times.next(first);
  const third = second === undefined ? undefined : times.next(second);
  return { times, fires: [first, second, third].filter((at) => at !== undefined) };
}

function suggestion(cron: string, { zone, now }: { readonly zone: string; readonly now: number }): string {
  const nearest = nearestReading(cron, { zone, from: now });
  if (nearest === undefined)
    return " Five fields are minute, hour, day of month, month, day of week; with six, seconds come first.";
  return ` Perhaps "${nearest.cron}" is meant, which fires next at ${nearest.fires.map((at) => zonedTime(at, zone)).join("; ")} (${zone}). Call again with it if so.`;
}

const refused = (text: string): ToolError =>
  new ToolError(ToolErrorCode.InvalidArguments, `Cannot schedule the task: ${text}`);
