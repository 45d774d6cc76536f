import { ACCOUNT, JOBS } from "./stand-ins.ts";
import { type Answer, type Way, ways } from "./ways.ts";

/** One call of a tool. */
export interface ToolCall {
  readonly tool: string;
  /**
   * Each way has arguments of its own where an answer may be kept, or something is made.
   * @param before the answers to the calls before it, by their tools
   */
  readonly args: (way: Way, before: ReadonlyMap<string, Answer>) => object;
  /** A part of its answer's text, and of what is structured. */
  readonly answer: (way: Way) => { readonly content?: string; readonly structured?: object };
}

/**
 * One call of each tool of the services that only serve tools, and of `html_to_text`, in an order in which each finds
 * what it asks for.
 */
export const calls: readonly ToolCall[] = [
  {
    tool: "html_to_text",
    args: () => ({ html: "<h1>Hello</h1><p>Read <a href='https://example.com/'>this</a>.</p>" }),
    answer: () => ({ content: "Hello\n\nRead this (https://example.com/).", structured: { characters: 40 } }),
  },
  {
    tool: "knowledge_save",
    args: (way) => ({ title: `Checklist of ${way}`, body: "Tag the release." }),
    answer: () => ({ structured: { created: true } }),
  },
  ...["knowledge_search", "search"].map((tool): ToolCall => {
    return {
      tool,
      args: (way) => ({ query: `checklist ${way}`, max_results: 1 }),
      answer: (way) => ({ structured: { items: [{ title: `Checklist of ${way}` }] } }),
    };
  }),
  {
    tool: "knowledge_get",
    args: (_, before) => ({ id: madeBy("knowledge_save", before).id }),
    answer: (way) => ({ structured: { title: `Checklist of ${way}`, body: "Tag the release." } }),
  },
  {
    tool: "linkedin_jobs",
    args: (way) => ({ keywords: `engineer for ${way}` }),
    answer: () => ({ structured: { jobs: JOBS.map((id) => ({ id, title: `Engineer ${id}` })) } }),
  },
  {
    tool: "linkedin_job_detail",
    args: (way) => ({ url: `https://www.linkedin.com/jobs/view/${jobOf(way)}` }),
    answer: (way) => ({ content: "Build the platform.", structured: { id: jobOf(way) } }),
  },
  {
    tool: "anthropic_usage",
    args: (way) => ({ report: "cost", starting_at: "2025-08-01", ending_at: `2025-08-0${3 + ways.indexOf(way)}` }),
    answer: () => ({ content: "1.25", structured: { totals: { usd: 1.25 } } }),
  },
  {
    tool: "gmail_search",
    args: () => ({ query: "subject:lunch" }),
    answer: () => ({ structured: { account: ACCOUNT, messages: [{ id: "a1", subject: "Lunch" }] } }),
  },
  { tool: "gmail_read", args: () => ({ message_id: "a1" }), answer: () => ({ content: "At noon?" }) },
  {
    tool: "gmail_send",
    args: (way) => ({ to: ["bob@example.com"], subject: `Sent by ${way}`, body: "Yes." }),
    answer: () => ({ content: `Sent from ${ACCOUNT} to bob@example.com` }),
  },
  {
    tool: "calendar_create_event",
    args: (way) => ({ title: `Lunch by ${way}`, start: "2025-08-01", end: "2025-08-02" }),
    answer: (way) => ({ structured: { event: { title: `Lunch by ${way}`, all_day: true } } }),
  },
  {
    tool: "calendar_get_event",
    args: (_, before) => ({ event_id: madeBy("calendar_create_event", before).event?.id }),
    answer: (way) => ({ structured: { event: { title: `Lunch by ${way}` } } }),
  },
  {
    tool: "calendar_list_events",
    args: (way) => ({ time_min: "2025-08-01", time_max: "2025-08-03", query: way }),
    answer: (way) => ({ structured: { events: [{ title: `Lunch by ${way}` }], has_more: false } }),
  },
  { tool: "rest__item", args: (way) => ({ id: way }), answer: (way) => ({ content: `"GET /items/${way}"` }) },
  {
    tool: "rest__add",
    args: (way) => ({ name: way }),
    answer: (way) => ({ content: `POST /items {\\"name\\":\\"${way}\\"}` }),
  },
  {
    tool: "rest__shop_getItem",
    args: (way) => ({ id: ways.indexOf(way) }),
    answer: (way) => ({ content: `"GET /items/${ways.indexOf(way)}"` }),
  },
  { tool: "list_known_agents", args: () => ({}), answer: () => ({ content: '"agentName":"outside"' }) },
  {
    tool: "get_agent_details",
    args: () => ({ agent_name: "outside" }),
    answer: () => ({ content: "Says what it was asked." }),
  },
  {
    tool: "invoke_agent",
    args: (way) => ({ agent_name: "outside", message: `by ${way}` }),
    answer: (way) => ({ content: `You asked: by ${way}` }),
  },
  {
    tool: "write_file",
    args: (way) => ({ path: `${way}/a.txt`, content: "one\n" }),
    answer: () => ({ structured: { created: true, added: 1 } }),
  },
  {
    tool: "edit_file",
    args: (way) => ({ path: `work/${way}/a.txt`, old_text: "one", new_text: "two" }),
    answer: () => ({ structured: { added: 1, removed: 1 } }),
  },
  { tool: "read_file", args: (way) => ({ path: `${way}/a.txt` }), answer: () => ({ content: "two" }) },
  {
    tool: "list_files",
    args: (way) => ({ path: `work/${way}` }),
    answer: (way) => ({ content: `work/${way}/a.txt  4 bytes` }),
  },
  {
    tool: "search_files",
    args: (way) => ({ pattern: "tw.", path: `work/${way}` }),
    answer: (way) => ({ content: `work/${way}/a.txt:1:two` }),
  },
  {
    tool: "bash",
    args: (way) => ({ command: `tr a-z A-Z < work/${way}/a.txt` }),
    answer: () => ({ content: "TWO", structured: { exit_code: 0 } }),
  },
];

const madeBy = (tool: string, before: ReadonlyMap<string, Answer>) =>
  (before.get(tool)?.structured ?? {}) as { id?: string; event?: { id: string } };

const jobOf = (way: Way): string => JOBS[ways.indexOf(way)] ?? "";
