import { saidBy, type ToolListScheduledTasksOutput, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { Usage } from "../store/schedule-store.ts";
import type { ScheduledTask } from "../task/scheduled-task.ts";
import { dayOf, isoTime, zonedTime } from "../time/zoned-time.ts";
import { withStore } from "./store-errors.ts";
import { ownerOf, type TaskDesk } from "./task-desk.ts";

/** `list_scheduled_tasks`: the tasks of the same caller and session as a table, with the present time. */
export function listScheduledTasks({ store, zone, maxTasks, mostPerDay }: TaskDesk): Tool {
  return defineTool(tools.listScheduledTasks, (_, context) =>
    withStore("list the tasks", async () => {
      const { caller, sessionId } = ownerOf(context);
      const [now, all] = await Promise.all([store.now(), store.tasksOf(caller)]);
      const used = await store.usage(caller, dayOf(now, zone));
      const own = all
        .filter((task) => task.sessionId === sessionId)
        .sort((a, b) => (a.nextAt ?? Infinity) - (b.nextAt ?? Infinity) || (a.name < b.name ? -1 : 1));
      const lines = [
        `Now: ${zonedTime(now, zone)}, time zone ${zone}.`,
        "",
        ...(own.length === 0 ? ["There are no scheduled tasks in this conversation."] : [...HEAD, ...own.map(rowOf)]),
        "",
        usageText({ count: all.length, elsewhere: all.length - own.length, used }, { maxTasks, mostPerDay }),
      ];
      const isUntrusted = own.some(({ hasReadUntrusted, lastRun }) => hasReadUntrusted || lastRun?.isUntrusted === true);
      return {
        content: lines.join("\n"),
        structured: { now: isoTime(now, zone), time_zone: zone, tasks: own.map(listed) },
        ...(isUntrusted ? { trust: saidBy("scheduled tasks") } : {}),
      };
    }),
  );
}

const HEAD = ["| name | cron | next fire | last run | description |", "|---|---|---|---|---|"];

function rowOf(task: ScheduledTask): string {
  const { name, cron, zone, nextAt, isOnce, description } = task;
  const next = nextAt === undefined ? "none" : `${zonedTime(nextAt, zone)}${isOnce ? ", once" : ""}`;
  return `| ${[name, cron, next, lastOf(task), description].map((text) => cell(text)).join(" | ")} |`;
}

function lastOf({ zone, running, lastRun, lastSkip }: ScheduledTask): string {
  const words = [
    running === undefined ? undefined : `running since ${zonedTime(running.takenAt, zone)}`,
    lastRun === undefined ? undefined : `${zonedTime(lastRun.fireAt, zone)} ${lastRun.outcome}: ${lastRun.text}`,
    lastSkip === undefined || (lastRun !== undefined && lastRun.fireAt > lastSkip.last)
      ? undefined
      : `skipped ${skippedAt(lastSkip, zone)}: ${lastSkip.reason}`,
  ].filter((text) => text !== undefined);
  return words.length === 0 ? "none" : words.map((text) => cell(text)).join("; ");
}

const skippedAt = ({ first, last }: { readonly first: number; readonly last: number }, zone: string): string =>
  first === last ? zonedTime(first, zone) : `${zonedTime(first, zone)} to ${zonedTime(last, zone)}`;

/** What of a text fits a cell of the table. */
const CELL = 200;

/** A text as a cell of a markdown table, on one line. */
function cell(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").replaceAll("\\|", "|").replaceAll("|", "\\|").trim();
  return line.length <= 2 * CELL ? line : `${line.slice(0, 2 * CELL).replace(/[\ud800-\udbff\\]$/, "")}…`;
}

function usageText(
  { count, elsewhere, used }: { readonly count: number; readonly elsewhere: number; readonly used: Usage },
  { maxTasks, mostPerDay }: Pick<TaskDesk, "maxTasks" | "mostPerDay">,
): string {
  const other = elsewhere === 0 ? "" : `, ${elsewhere} of them of other conversations`;
  return `Tasks of this caller: ${count} of ${maxTasks}${other}. Today: ${used.fires} of ${mostPerDay.fires} fires, ${used.tokens} of ${mostPerDay.tokens} tokens.`;
}

type Listed = ToolListScheduledTasksOutput["tasks"][number];

function listed({ name, cron, zone, description, isOnce, createdAt, nextAt, running, lastRun, lastSkip }: ScheduledTask): Listed {
  const at = (time: number): string => isoTime(time, zone);
  return {
    name,
    cron,
    time_zone: zone,
    description,
    run_once: isOnce,
    created_at: at(createdAt),
    ...(nextAt === undefined ? {} : { next_fire: at(nextAt) }),
    is_running: running !== undefined,
    ...(lastRun === undefined
      ? {}
      : {
          last_run: {
            fire: at(lastRun.fireAt),
            ended_at: at(lastRun.endedAt),
            outcome: lastRun.outcome,
            text: lastRun.text,
            ...(lastRun.tokens === undefined ? {} : { tokens: lastRun.tokens }),
          },
        }),
    ...(lastSkip === undefined ? {} : { last_skip: { first: at(lastSkip.first), last: at(lastSkip.last), reason: lastSkip.reason } }),
  };
}
