import { saidBy, type ToolAnthropicUsageInput, ToolError, ToolErrorCode, tools, visibleText } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { AdminApiOptions } from "../api/admin-api.ts";
import { DAY_MS, type Row, reports, rounded, type Span } from "../api/reports.ts";

/** Each day of Claude Code is a request of its own. */
const MAX_DAYS = 31;

/** `anthropic_usage`: a report of the organization as a table, with the sums of its amounts. */
export function anthropicUsage(api: AdminApiOptions): Tool {
  return defineTool(tools.anthropicUsage, async (input, { signal, progress }) => {
    const span = spanOf(input, new Date());
    progress({ message: `Reading the report ${input.report}` });
    const rows = await reports[input.report](input, span, api, signal);
    const totals = totalsOf(rows);
    return {
      content: contentOf(input.report, span, rows, totals),
      structured: {
        report: input.report,
        starting_at: span.start.toISOString(),
        ending_at: span.end.toISOString(),
        rows: rows.map((row) => ({ ...row })),
        totals,
      },
      trust: saidBy(api.baseUrl),
    };
  });
}

/** Which groups each report can be split by. */
const GROUPS: Readonly<Record<ToolAnthropicUsageInput["report"], readonly string[]>> = {
  usage: ["api_key_id", "workspace_id", "model", "service_tier", "context_window"],
  cost: ["workspace_id", "description"],
  claude_code: [],
};
const ONLY_USAGE = ["bucket_width", "models", "workspace_ids", "api_key_ids"] as const;

/** @throws {ToolError} `invalid_arguments` with all faults at once */
function spanOf(input: ToolAnthropicUsageInput, now: Date): Span {
  const { report, starting_at, ending_at, group_by = [] } = input;
  const start = timeOf(starting_at);
  const end = ending_at === undefined ? now : timeOf(ending_at);
  const wrongGroups = group_by.filter((group) => !GROUPS[report].includes(group));
  const wrongNames = report === "usage" ? [] : ONLY_USAGE.filter((name) => input[name] !== undefined);
  const faults = [
    ...(start === undefined ? [unreadable("starting_at", starting_at)] : []),
    ...(end === undefined ? [unreadable("ending_at", ending_at ?? "")] : []),
    ...(start !== undefined && end !== undefined && start >= end ? ["starting_at has to be before ending_at"] : []),
    ...(report === "claude_code" &&
    start !== undefined &&
    end !== undefined &&
    end.getTime() - start.getTime() > MAX_DAYS * DAY_MS
      ? [`the report claude_code covers at most ${MAX_DAYS} days`]
      : []),
    ...wrongGroups.map(
      (group) =>
        `the report ${report} cannot be split by ${group}, ${GROUPS[report].length === 0 ? "nor by anything else" : `only by ${GROUPS[report].join(", ")}`}`,
    ),
    ...wrongNames.map((name) => `${name} is for the report usage only`),
  ];
  if (faults.length > 0 || start === undefined || end === undefined) {
    throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot read the report: ${faults.join("; ")}.`);
  }
  return { start, end };
}

const unreadable = (name: string, value: string): string =>
  `${name}: ${JSON.stringify(value.slice(0, 40))} is neither a date such as 2025-08-01 nor a time such as 2025-08-01T12:00:00Z`;

/** A time without a zone would be in the machine's: only its date is taken. */
function timeOf(text: string): Date | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text)) return undefined;
  const time = new Date(text);
  const isReal =
    !Number.isNaN(time.getTime()) &&
    new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().startsWith(text.slice(0, 10));
  return isReal ? time : undefined;
}

function totalsOf(rows: readonly Row[]): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const row of rows)
    for (const [name, value] of Object.entries(row))
      if (typeof value === "number") totals[name] = rounded((totals[name] ?? 0) + value);
  return totals;
}

function contentOf(
  report: string,
  { start, end }: Span,
  rows: readonly Row[],
  totals: Readonly<Record<string, number>>,
): string {
  const title = `# Anthropic: ${report}, ${start.toISOString()} to ${end.toISOString()}`;
  const [first] = rows;
  if (first === undefined) return `${title}\n\nNothing was used in this time.`;
  const columns = Object.keys(first);
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    title,
    "",
    line(columns),
    line(columns.map(() => "---")),
    ...rows.map((row) => line(columns.map((column) => cell(row[column])))),
    line(columns.map((column, i) => (i === 0 ? "total" : cell(totals[column])))),
  ].join("\n");
}

const cell = (value: string | number | undefined): string =>
  visibleText(String(value ?? "")).replaceAll(/[|\r\n]+/g, " ");
