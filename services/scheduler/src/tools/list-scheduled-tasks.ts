import { saidBy, type ToolListScheduledTasksOutput, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { Usage } from "../store/schedule-store.ts";
import { beginningOf } from "../task/beginning-of.ts";
import { isOver, type ScheduledTask, type TaskRun } from "../task/scheduled-task.ts";
import { dayOf, isoTime, zonedTime } from "../time/zoned-time.ts";
import { isSameName, ownerOf, type SchedulingParts, visibleTasks } from "./scheduling-parts.ts";
import { withStore } from "./store-errors.ts";

/**
 * `list_scheduled_tasks`: the tasks of the same caller as a table, with the present time; those of one name with their
 * last answers.
 */
export function listScheduledTasks({ store, zone, maxTasks, mostPerDay }: SchedulingParts): Tool {
  return defineTool(tools.listScheduledTasks, ({ name }, context) =>
    withStore("list the tasks", async () => {
      const { caller, sessionId } = ownerOf(context);
      const [now, { all, visible }] = await Promise.all([store.now(), visibleTasks(store, context)]);
      const used = await store.usage(caller, dayOf(now, zone));
      const shown = visible
        .filter((task) => name == null || isSameName(task.name, name))
        .sort((a, b) => (a.nextAt ?? Infinity) - (b.nextAt ?? Infinity) || (a.name < b.name ? -1 : 1));
      const lines = [
        `Now: ${zonedTime(now, zone)}, time zone ${zone}.`,
        "",
        ...(shown.length === 0
          ? ["There are no scheduled tasks to show."]
          : [...HEAD, ...shown.map((task) => rowOf(task, sessionId))]),
        ...(name == null ? [] : shown.flatMap((task) => runsOf(task).flatMap((run) => answerLines(task, run)))),
        "",
        usageText({ count: all.filter((task) => !isOver(task)).length, used }, { maxTasks, mostPerDay }),
      ];
      const isUntrusted = shown.some(
        (task) =>
          task.hasReadUntrusted || (name == null ? [task.lastRun] : runsOf(task)).some((run) => run?.isUntrusted),
      );
      return {
        content: lines.join("\n"),
        structured: {
          now: isoTime(now, zone),
          time_zone: zone,
          tasks: shown.map((task) => listed(task, name != null)),
        },
        ...(isUntrusted ? { trust: saidBy("scheduled tasks") } : {}),
      };
    }),
  );
}

const HEAD = ["| name | conversation | cron | next fire | last run | description |", "|---|---|---|---|---|---|"];

function rowOf(task: ScheduledTask, here: string): string {
  const { name, sessionId, cron, zone, nextAt, isOnce, description } = task;
  const next = nextAt === undefined ? "none" : `${zonedTime(nextAt, zone)}${isOnce ? ", once" : ""}`;
  return `| ${[name, sessionId === here ? "this one" : sessionId, cron, next, lastOf(task), description].map((text) => cell(text)).join(" | ")} |`;
}

/** The newest first. */
const runsOf = ({ lastRun, earlierRuns = [] }: ScheduledTask): readonly TaskRun[] =>
  [lastRun, ...earlierRuns].filter((run) => run !== undefined);

const answerLines = ({ name, zone }: ScheduledTask, { fireAt, outcome, text }: TaskRun): readonly string[] => [
  "",
  `## ${name} at ${zonedTime(fireAt, zone)}: ${outcome}`,
  "",
  text,
];

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
  { count, used }: { readonly count: number; readonly used: Usage },
  { maxTasks, mostPerDay }: Pick<SchedulingParts, "maxTasks" | "mostPerDay">,
): string {
  return `Tasks of this caller: ${count} of ${maxTasks}. Today: ${used.fires} of ${mostPerDay.fires} fires, ${used.tokens} of ${mostPerDay.tokens} tokens.`;
}

type Listed = ToolListScheduledTasksOutput["tasks"][number];

/** What the list of all tasks has of an answer. */
const MAX_LISTED = 1_000;

function listed(task: ScheduledTask, isWhole: boolean): Listed {
  const {
    name,
    sessionId,
    cron,
    zone,
    description,
    isOnce,
    createdAt,
    nextAt,
    running,
    lastRun,
    earlierRuns,
    lastSkip,
  } = task;
  const at = (time: number): string => isoTime(time, zone);
  const runOf = ({ fireAt, endedAt, outcome, text, tokens }: TaskRun): NonNullable<Listed["last_run"]> => ({
    fire: at(fireAt),
    ended_at: at(endedAt),
    outcome,
    text: isWhole ? text : beginningOf(text, MAX_LISTED),
    ...(tokens === undefined ? {} : { tokens }),
  });
  return {
    name,
    conversation: sessionId,
    cron,
    time_zone: zone,
    description,
    run_once: isOnce,
    created_at: at(createdAt),
    ...(nextAt === undefined ? {} : { next_fire: at(nextAt) }),
    is_running: running !== undefined,
    ...(lastRun === undefined ? {} : { last_run: runOf(lastRun) }),
    ...(isWhole && earlierRuns !== undefined ? { earlier_runs: earlierRuns.map(runOf) } : {}),
    ...(lastSkip === undefined
      ? {}
      : { last_skip: { first: at(lastSkip.first), last: at(lastSkip.last), reason: lastSkip.reason } }),
  };
}
