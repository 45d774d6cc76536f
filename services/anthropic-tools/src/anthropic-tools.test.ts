import { createMemoryBus } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { startAnthropicAdminServer } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startAnthropicTools } from "./anthropic-tools.ts";
import { configSchema } from "./generated/config.ts";

const USAGE = "/v1/organizations/usage_report/messages";
const COST = "/v1/organizations/cost_report";
const CODE = "/v1/organizations/usage_report/claude_code";

test("the report usage counts tokens, split by groups, over all pages", async () => {
  await using system = await start();
  const bucket = (day: number, model: string, output: number) => ({
    starting_at: `2025-08-0${day}T00:00:00Z`,
    ending_at: `2025-08-0${day + 1}T00:00:00Z`,
    results: [
      {
        uncached_input_tokens: 10,
        cache_creation: { ephemeral_1h_input_tokens: 1, ephemeral_5m_input_tokens: 2 },
        cache_read_input_tokens: 4,
        output_tokens: output,
        server_tool_use: { web_search_requests: 1 },
        model,
        workspace_id: null,
      },
    ],
  });
  system.api.entries[USAGE] = [bucket(1, "one|1", 5), bucket(2, "two", 7), bucket(3, "two", 9)];
  system.api.pageSize = 2;

  const answer = await system.call({
    report: "usage",
    starting_at: "2025-08-01",
    ending_at: "2025-08-04T00:00:00Z",
    group_by: ["model"],
    models: ["one|1", "two"],
  });
  expect(answer).toMatchObject({
    structured: {
      totals: {
        uncached_input_tokens: 30,
        cache_creation_tokens: 9,
        cache_read_tokens: 12,
        output_tokens: 21,
        web_searches: 3,
      },
    },
    trust: { level: "untrusted", origin: system.api.url },
  });
  expect(answer.content).toContain("| 2025-08-01T00:00:00Z | 2025-08-02T00:00:00Z | one 1 | 10 | 3 | 4 | 5 | 1 |");
  expect(answer.content?.split("\n").at(-1)).toBe("| total |  |  | 30 | 9 | 12 | 21 | 3 |");
  expect(system.api.requests).toEqual([
    `${USAGE}?starting_at=2025-08-01T00%3A00%3A00.000Z&ending_at=2025-08-04T00%3A00%3A00.000Z&bucket_width=1d&limit=31&group_by%5B%5D=model&models%5B%5D=one%7C1&models%5B%5D=two`,
    expect.stringMatching(/&page=page_2$/),
  ]);
});

test("the report cost gives dollars of amounts in cents", async () => {
  await using system = await start();
  const result = (amount: string, description: string) => ({ currency: "USD", amount, description });
  system.api.entries[COST] = [
    {
      starting_at: "2025-08-01T00:00:00Z",
      ending_at: "2025-08-02T00:00:00Z",
      results: [result("123.78912", "tokens"), result("10", "search")],
    },
  ];

  expect(await system.call({ report: "cost", starting_at: "2025-08-01", group_by: ["description"] })).toMatchObject({
    structured: {
      rows: [expect.objectContaining({ description: "tokens", usd: 1.237891 }), expect.objectContaining({ usd: 0.1 })],
      totals: { usd: 1.337891 },
    },
  });
  system.api.entries[COST] = [];
  expect(await system.call({ report: "cost", starting_at: "2025-08-02" })).toMatchObject({
    content: expect.stringContaining("Nothing was used"),
  });
});

test("the report claude_code asks for each day, and adds up a person's models", async () => {
  await using system = await start();
  const tokens = { input: 100, output: 20, cache_read: 0, cache_creation: 0 };
  system.api.entries[CODE] = [
    {
      date: "2025-08-01T00:00:00Z",
      actor: { type: "user_actor", email_address: "dev@example.com" },
      terminal_type: "vscode",
      core_metrics: {
        num_sessions: 2,
        lines_of_code: { added: 30, removed: 4 },
        commits_by_claude_code: 1,
        pull_requests_by_claude_code: 0,
      },
      model_breakdown: [
        { model: "one", tokens, estimated_cost: { currency: "USD", amount: 150 } },
        { model: "two", tokens, estimated_cost: { currency: "USD", amount: 25 } },
      ],
    },
  ];

  expect(
    await system.call({ report: "claude_code", starting_at: "2025-08-01", ending_at: "2025-08-03" }),
  ).toMatchObject({
    structured: { totals: { sessions: 4, lines_added: 60, commits: 2, input_tokens: 400, usd: 3.5 } },
  });
  expect(system.api.requests).toEqual([
    `${CODE}?starting_at=2025-08-01&limit=1000`,
    `${CODE}?starting_at=2025-08-02&limit=1000`,
  ]);
});

test("all that is wrong with the arguments is said at once, and nothing is asked", async () => {
  await using system = await start();
  await expect(
    system.call({
      report: "cost",
      starting_at: "2025-02-30",
      ending_at: "yesterday!",
      group_by: ["model"],
      models: ["x"],
    }),
  ).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringMatching(
      /starting_at: .*ending_at: .*cannot be split by model, only by workspace_id, description; models is for the report usage only/,
    ),
  });
  await expect(
    system.call({ report: "claude_code", starting_at: "2025-01-01", ending_at: "2025-03-01" }),
  ).rejects.toMatchObject({
    message: expect.stringContaining("at most 31 days"),
  });
  await expect(
    system.call({ report: "usage", starting_at: "2025-08-02", ending_at: "2025-08-02" }),
  ).rejects.toMatchObject({ code: "invalid_arguments" });
  expect(system.api.requests).toEqual([]);
});

test.each([
  [{ status: 401 }, "unavailable", /ANTHROPIC_ADMIN_API_KEY/, false],
  [{ status: 429, headers: { "retry-after": "7" } }, "rate_limited", /request limit/, true],
  [{ status: 529 }, "unavailable", /529/, true],
  [
    { status: 400, body: '{"error":{"message":"models: unknown model"}}' },
    "invalid_arguments",
    /models: unknown model/,
    false,
  ],
  [{ status: 200, body: "<html>" }, "unavailable", /not what it documents/, true],
  [{ status: 200, body: '{"data":{}}' }, "unavailable", /not what it documents/, true],
  [{ status: 302, headers: { location: "http://127.0.0.1:1/" } }, "execution_failed", /302/, false],
])("the answer %j is told as it is", async (fault, code, words, isRetryable) => {
  await using system = await start();
  system.api.faults.push(fault);
  await expect(system.call({ report: "cost", starting_at: "2025-08-01" })).rejects.toMatchObject({
    code,
    isRetryable,
    message: expect.stringMatching(words),
  });
});

test.each([
  [[null]],
  [[{}]],
  [[{ results: [{ amount: "abc" }] }]],
  [[{ results: [{ amount: "9".repeat(400) }] }]],
  [[{ results: [{ amount: "1", currency: "EUR" }] }]],
])("the entries %j are no report of costs", async (data) => {
  await using system = await start();
  system.api.faults.push({ status: 200, body: JSON.stringify({ data, has_more: false }) });
  await expect(system.call({ report: "cost", starting_at: "2025-08-01" })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("not what it documents"),
  });
});

test("a report without end is refused as too large, and one that leads to itself as unreadable", async () => {
  await using system = await start();
  system.api.pageSize = 1;
  system.api.entries[COST] = Array.from({ length: 200 }, () => ({ results: [] }));
  await expect(system.call({ report: "cost", starting_at: "2025-08-01" })).rejects.toMatchObject({ code: "too_large" });
  const again = { status: 200, body: '{"data":[],"has_more":true,"next_page":"page_1"}' };
  system.api.faults.push(again, again);
  await expect(system.call({ report: "cost", starting_at: "2025-08-02" })).rejects.toMatchObject({
    code: "unavailable",
  });
});

test("without a key the tool is not offered, and the service says what to set", async () => {
  await using bus = createMemoryBus();
  await using running = await startAnthropicTools(bus, loadConfig(configSchema, { env: {} }), {
    service: "anthropic-tools",
  });
  expect(running.off).toEqual([
    { tool: "anthropic_usage", reason: expect.stringContaining("ANTHROPIC_ADMIN_API_KEY") },
  ]);
  await using caller = await createToolCaller(bus, { agent: "tester" });
  await expect(caller.call("anthropic_usage", { report: "cost", starting_at: "2025-08-01" })).rejects.toMatchObject({
    code: "unavailable",
  });
});

async function start() {
  await using started = new AsyncDisposableStack();
  const api = started.use(await startAnthropicAdminServer());
  const config = loadConfig(configSchema, {
    env: { ANTHROPIC_ADMIN_API_KEY: api.apiKey, ANTHROPIC_BASE_URL: api.url },
  });
  const bus = started.use(createMemoryBus());
  started.use(await startAnthropicTools(bus, config, { service: "anthropic-tools", topic: "tool.invoke.anthropic" }));
  const caller = started.use(await createToolCaller(bus, { agent: "tester" }));
  await caller.discovered();
  const open = started.move();
  return {
    api,
    call: (input: object) => caller.call("anthropic_usage", input),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
