import type { ToolGuide } from "@rockbot/contracts";
import type { SchedulerConfig } from "./generated/config.ts";

type Bounds = Pick<
  SchedulerConfig,
  | "maxTasks"
  | "shortestIntervalSeconds"
  | "maxFiresPerDay"
  | "maxTokensPerDay"
  | "missedWindowSeconds"
  | "maxRunSeconds"
>;

/** Teaches the model to schedule tasks, with the bounds that hold here. */
export function schedulingGuide(bounds: Readonly<Bounds>, zone: string): ToolGuide {
  const { maxTasks, shortestIntervalSeconds, maxFiresPerDay, maxTokensPerDay, missedWindowSeconds, maxRunSeconds } =
    bounds;
  return {
    name: "scheduling",
    summary: "Do something later or again and again, with schedule_task: reminders, reports, checks.",
    document: [
      "# Scheduling",
      "",
      "`schedule_task` has you sent a message at the times of a cron expression. You do then what its description says, and your answer goes to the conversation that made the task.",
      "",
      "## How to schedule",
      "",
      "1. Call `list_scheduled_tasks`. Its first line is the present time with its zone.",
      '2. Compute the time. For "in 2 hours" add them to the present time.',
      "3. Call `schedule_task`. Its answer has the next fire times: check them, and tell them to the user.",
      "",
      "| what | cron | run_once |",
      "|---|---|---|",
      "| 9 o'clock on weekdays | `0 9 * * 1-5` | |",
      "| every 15 minutes | `*/15 * * * *` | |",
      "| 9:00:30 each day (six fields, seconds first) | `30 0 9 * * *` | |",
      "| once, on 24 December at 18:00 | `0 18 24 12 *` | true |",
      "",
      "- For a task that runs once, pin minute, hour, day and month, and give `*` for the day of the week. After it has run, the list shows it with its answer for a week.",
      "- A day has to match the day of the month and the day of the week: `0 9 13 * 5` is Friday the 13th.",
      `- Times are in the zone ${zone}. Where clocks are set forward, a fixed time in the gap fires right after it. Where they are set back, it fires once.`,
      "- Write the description so that it can be done without this conversation: what to do, where the data is, in which form to answer.",
      "- A task with the name of another one of this conversation replaces it.",
      "- `list_scheduled_tasks` and `cancel_scheduled_task` reach those of the user's other conversations, too. A robot's session reaches those of its conversation alone.",
      "- With `name`, `list_scheduled_tasks` gives a task's last answers.",
      "",
      "## Bounds",
      "",
      "| of | here |",
      "|---|---|",
      `| tasks of one caller | ${maxTasks} |`,
      `| shortest time between two fires | ${shortestIntervalSeconds} s |`,
      `| fires of one caller in a day | ${maxFiresPerDay} |`,
      `| tokens of one caller's runs in a day | ${maxTokensPerDay} |`,
      `| time of a run | ${maxRunSeconds} s |`,
      "",
      "## When a fire does not run",
      "",
      "`list_scheduled_tasks` says of each task how its last run ended, and which fires were skipped:",
      "",
      "- Its last run still went on.",
      "- The caller's fires or tokens of the day were used up.",
      `- No scheduler could take it in time. A fire that is up to ${missedWindowSeconds} s late runs; of several, the last one.`,
      "",
    ].join("\n"),
  };
}
