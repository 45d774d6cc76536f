import { counted, printable, type ToolListScheduledTasksOutput, tools } from "@rockbot/contracts";
import { type AskToolOptions, askTool } from "../client/ask-tool.ts";
import { CommandError } from "../command-error.ts";
import { plainText } from "../terminal/plain-text.ts";
import { type Column, printTable } from "../terminal/print-table.ts";

export interface SchedulesOptions extends AskToolOptions {
  readonly json?: boolean;
  /** Only tasks of this conversation. */
  readonly session?: string;
}

type Task = ToolListScheduledTasksOutput["tasks"][number];

const COLUMNS: readonly Column[] = [
  { title: "name" },
  { title: "next", least: 17 },
  { title: "last", least: 9 },
  { title: "conversation" },
  { title: "cron", least: 9 },
];

/** `rockbot schedules ls`: the scheduled tasks of a caller, over all its conversations. */
export async function listSchedules({ json = false, ...options }: SchedulesOptions): Promise<void> {
  const { tasks, where, now, zone } = await read({}, options);
  if (json) return console.log(JSON.stringify(tasks, undefined, 2));
  const rows = tasks.map((task) => [
    task.name,
    task.next_fire ?? "none",
    task.is_running ? "running" : lastOf(task),
    task.conversation,
    task.cron,
  ]);
  printTable(COLUMNS, rows);
  console.error(
    `${counted(tasks.length, "scheduled task")} in ${where}, where it is ${now} (${zone}). The answers of one: rockbot schedules show NAME`,
  );
}

/** `rockbot schedules show`: all of a task, with its last answers. */
export async function showSchedule(name: string, { json = false, ...options }: SchedulesOptions): Promise<void> {
  const { tasks, where } = await read({ name }, options);
  if (tasks.length === 0) throw noSuchTask(name, where);
  if (json) return console.log(JSON.stringify(tasks, undefined, 2));
  for (const line of tasks.flatMap(linesOf)) console.log(plainText(line));
}

/** `rockbot schedules cancel`: removes a task. */
export async function cancelSchedule(
  name: string,
  { session, json = false, ...options }: SchedulesOptions,
): Promise<void> {
  const input = { name, ...(session === undefined ? {} : { conversation: session }) };
  const { content, structured, where } = await askTool(tools.cancelScheduledTask, input, options);
  if (structured?.["cancelled"] === false && structured["conversation"] === undefined) throw noSuchTask(name, where);
  if (structured?.["cancelled"] !== true) throw new CommandError(printable(content ?? ""));
  if (json) console.log(JSON.stringify(structured, undefined, 2));
  else console.error(printable(content ?? ""));
}

const noSuchTask = (name: string, where: string): CommandError =>
  new CommandError(
    `There is no scheduled task ${JSON.stringify(printable(name))} in ${where}: "rockbot schedules ls" lists those that there are`,
  );

async function read(input: object, { session, ...options }: SchedulesOptions) {
  const { structured, where } = await askTool(tools.listScheduledTasks, input, options);
  const { validateOutput } = tools.listScheduledTasks;
  if (validateOutput?.(structured) !== true)
    throw new CommandError(`${where} gave a list of scheduled tasks that cannot be read. Is it of another version?`);
  const { tasks, now, time_zone: zone } = structured;
  return { tasks: tasks.filter(({ conversation }) => (session ?? conversation) === conversation), now, zone, where };
}

function lastOf({ last_run: run, last_skip: skip }: Task): string {
  if (skip !== undefined && (run === undefined || Date.parse(skip.last) > Date.parse(run.fire)))
    return `skipped ${skip.last}`;
  return run === undefined ? "none" : `${run.outcome} ${run.fire}`;
}

function linesOf({
  name,
  conversation,
  last_skip: skip,
  last_run: last,
  earlier_runs: earlier = [],
  ...task
}: Task): readonly string[] {
  return [
    `${name}, of the conversation ${conversation}`,
    `  cron         ${task.cron} (${task.time_zone})${task.run_once ? ", once" : ""}`,
    `  next         ${task.next_fire ?? "none"}${task.is_running ? "; a run goes on" : ""}`,
    ...(skip === undefined ? [] : [`  skipped      ${skip.first} to ${skip.last}: ${skip.reason}`]),
    `  description  ${task.description}`,
    ...[last, ...earlier].flatMap((run) => (run === undefined ? [] : ["", `${run.fire}  ${run.outcome}`, run.text])),
    "",
  ];
}
