import type { Command } from "commander";
import type { SchedulesOptions } from "../commands/schedules.ts";
import { BUS, FOR, POLICY } from "./common-options.ts";

/** Adds `rockbot schedules` and its commands. */
export function addSchedulesCommand(program: Command): void {
  const schedules = program
    .command("schedules")
    .description("List scheduled tasks, read their last answers, or cancel one.")
    .addHelpText(
      "after",
      "\nExamples:\n  rockbot schedules ls\n  rockbot schedules show morning-news --json | jq -r '.[0].last_run.text'",
    );
  const commands = () => import("../commands/schedules.ts");
  const add = (name: string, description: string): Command =>
    schedules
      .command(name)
      .description(description)
      .option("--session <id>", "only tasks of this conversation")
      .option("--for <caller>", FOR)
      .option("--json", "print JSON")
      .option("--bus <url>", BUS)
      .option("--policy <file>", POLICY);
  add("ls", "List your scheduled tasks, of all conversations: name, next fire, last run, conversation, cron.").action(
    async (options: SchedulesOptions) => (await commands()).listSchedules(options),
  );
  add("show", "Print all of a task, with its last answers.")
    .argument("<name>", 'the name of the task, as "schedules ls" prints it, in any case')
    .action(async (name: string, options: SchedulesOptions) => (await commands()).showSchedule(name, options));
  add("cancel", "Remove a task. A run that is on its way ends by itself.")
    .argument("<name>", "the name of the task, in any case")
    .action(async (name: string, options: SchedulesOptions) => (await commands()).cancelSchedule(name, options));
}
