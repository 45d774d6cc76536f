import { isRecord } from "@rockbot/base";
import { type ToolAnthropicUsageInput, valueAt } from "@rockbot/contracts";
import { type AdminApiOptions, type Entry, type Query, readReport, unreadable } from "./admin-api.ts";

/** One line of a report: texts, and amounts, which can be added up. */
export type Row = Readonly<Record<string, string | number>>;

/** The beginning and the end of a report, in UTC. The end is not included. */
export interface Span {
  readonly start: Date;
  readonly end: Date;
}

type Read = (input: ToolAnthropicUsageInput, span: Span, api: AdminApiOptions, signal: AbortSignal) => Promise<Row[]>;

/** How each report is read. @throws what `readReport` throws */
export const reports: Readonly<Record<ToolAnthropicUsageInput["report"], Read>> = {
  async usage(
    { bucket_width: width = "1d", group_by: groups = [], models, workspace_ids, api_key_ids },
    span,
    api,
    signal,
  ) {
    const query = {
      ...spanOf(span),
      bucket_width: width,
      limit: MOST_BUCKETS[width],
      group_by: groups,
      models,
      workspace_ids,
      api_key_ids,
    };
    return bucketRows(
      await readReport("/v1/organizations/usage_report/messages", query, api, signal),
      groups,
      (result) => ({
        uncached_input_tokens: amount(result["uncached_input_tokens"]),
        cache_creation_tokens:
          amount(valueAt(result, "/cache_creation/ephemeral_1h_input_tokens")) +
          amount(valueAt(result, "/cache_creation/ephemeral_5m_input_tokens")),
        cache_read_tokens: amount(result["cache_read_input_tokens"]),
        output_tokens: amount(result["output_tokens"]),
        web_searches: amount(valueAt(result, "/server_tool_use/web_search_requests")),
      }),
    );
  },
  async cost({ group_by: groups = [] }, span, api, signal) {
    const query = { ...spanOf(span), bucket_width: "1d", limit: "31", group_by: groups };
    return bucketRows(await readReport("/v1/organizations/cost_report", query, api, signal), groups, (result) => {
      if ((result["currency"] ?? "USD") !== "USD") throw unreadable();
      return { usd: dollars(result["amount"]) };
    });
  },
  async claude_code(_, { start, end }, api, signal) {
    const rows: Row[] = [];
    for (let day = new Date(`${dayOf(start)}T00:00:00Z`); day < end; day = new Date(day.getTime() + DAY_MS)) {
      const entries = await readReport(
        "/v1/organizations/usage_report/claude_code",
        { starting_at: dayOf(day), limit: "1000" },
        api,
        signal,
      );
      rows.push(...entries.map(claudeCodeRow));
    }
    return rows;
  },
};

/** The API's own limits of one page. */
const MOST_BUCKETS = { "1d": "31", "1h": "168", "1m": "1440" } as const;
export const DAY_MS = 86_400_000;

const spanOf = ({ start, end }: Span): Query => ({ starting_at: start.toISOString(), ending_at: end.toISOString() });
const dayOf = (time: Date): string => time.toISOString().slice(0, 10);

/** A row for each result of each bucket: when, the groups it belongs to, its amounts. */
function bucketRows(buckets: readonly Entry[], groups: readonly string[], amounts: (result: Entry) => Row): Row[] {
  return buckets.flatMap((bucket) => {
    const { results } = bucket;
    if (!Array.isArray(results) || !results.every(isRecord)) throw unreadable();
    return results.map((result) => ({
      from: text(bucket["starting_at"]),
      to: text(bucket["ending_at"]),
      ...Object.fromEntries(groups.map((group) => [group, text(result[group])])),
      ...amounts(result),
    }));
  });
}

function claudeCodeRow(entry: Entry): Row {
  const models = valueAt(entry, "/model_breakdown");
  const perModel = Array.isArray(models) ? (models as readonly unknown[]) : [];
  const sum = (pointer: string): number =>
    perModel.reduce<number>((total, model) => total + amount(valueAt(model, pointer)), 0);
  return {
    date: text(entry["date"]).slice(0, 10),
    actor: text(valueAt(entry, "/actor/email_address")) || text(valueAt(entry, "/actor/api_key_name")),
    terminal: text(entry["terminal_type"]),
    sessions: amount(valueAt(entry, "/core_metrics/num_sessions")),
    lines_added: amount(valueAt(entry, "/core_metrics/lines_of_code/added")),
    lines_removed: amount(valueAt(entry, "/core_metrics/lines_of_code/removed")),
    commits: amount(valueAt(entry, "/core_metrics/commits_by_claude_code")),
    pull_requests: amount(valueAt(entry, "/core_metrics/pull_requests_by_claude_code")),
    input_tokens: sum("/tokens/input"),
    output_tokens: sum("/tokens/output"),
    usd: rounded(sum("/estimated_cost/amount") / CENTS),
  };
}

const CENTS = 100;

/** Amounts of money come in cents, as decimal texts. */
const dollars = (cents: unknown): number => rounded(amount(cents) / CENTS);

/** To a ten-thousandth of a cent: sums of binary fractions have more digits than they mean. */
export const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

/** What is left out is 0. @throws {ToolError} of what is there and no amount: a sum without it would be wrong */
function amount(value: unknown): number {
  if (value === undefined || value === null) return 0;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) throw unreadable();
  return number;
}

const text = (value: unknown): string => (typeof value === "string" ? value.slice(0, 200) : "");
