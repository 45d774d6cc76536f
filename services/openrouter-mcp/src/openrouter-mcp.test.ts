import { McpServer } from "@rockbot/mcp";
import { loadConfig } from "@rockbot/process/config";
import { freePort, type OpenRouterFault, startFakeOpenRouter } from "@rockbot/testing";
import { expect, test } from "vitest";
import { configSchema, type OpenrouterMcpConfig } from "./generated/config.ts";
import { startOpenrouterMcp } from "./openrouter-mcp.ts";

const TOKEN = "token-of-this-test";

/** The service before a fake account, and a client of it, of the newer protocol era. */
async function startTested(settings: Partial<OpenrouterMcpConfig> = {}) {
  const openrouter = await startFakeOpenRouter();
  const overrides = {
    port: 0,
    mcpToken: TOKEN,
    openrouterApiKey: openrouter.managementKey,
    openrouterBaseUrl: openrouter.url,
    ...settings,
  };
  const server = await startOpenrouterMcp(loadConfig(configSchema, { env: {}, overrides }));
  const client = new McpServer({
    name: "openrouter",
    address: { type: "http", url: server.url, headers: { authorization: `Bearer ${TOKEN}` } },
  });
  await expect.poll(() => client.health.state, { timeout: 10_000 }).toBe("ready");
  return {
    openrouter,
    client,
    async call(name: string, args: Record<string, unknown> = {}) {
      const tool = client.tools.find((offered) => offered.name === name);
      if (tool === undefined) throw new Error(`${name} is not offered`);
      return client.callTool(tool, args, {
        timeoutMs: 15_000,
        signal: new AbortController().signal,
        onProgress: () => {},
      });
    },
    async [Symbol.asyncDispose]() {
      for (const part of [client, server, openrouter]) await part[Symbol.asyncDispose]();
    },
  };
}

test("each tool gives the JSON of its part of the API, reads only, and shows the key there alone", async () => {
  await using tested = await startTested();
  const { openrouter, client, call } = tested;
  openrouter.keys.push({ hash: "0e6f44a47a05f1da", name: "production" });
  openrouter.generations.push({ id: "gen-1234567890", model: "maker/model" });
  const data = async (name: string, args = {}): Promise<unknown> =>
    (JSON.parse((await call(name, args)).content ?? "") as { data: unknown }).data;

  expect(await data("get_credits")).toEqual({ total_credits: 100.5, total_usage: 25.75 });
  expect(await data("get_api_key_info")).toMatchObject({ is_management_key: true });
  expect(await data("list_models")).toMatchObject([
    { id: "maker/model", context_length: 128_000, pricing: { prompt: "0.00003" } },
  ]);
  expect(await data("list_api_keys")).toMatchObject([{ hash: "0e6f44a47a05f1da", name: "production" }]);
  expect(await data("get_api_key", { keyHash: "0e6f44a47a05f1da" })).toMatchObject({
    name: "production",
    limit_remaining: 74.5,
  });
  expect(await data("get_generation", { generationId: "gen-1234567890" })).toMatchObject({
    model: "maker/model",
    total_cost: 0.0015,
  });

  expect(client.tools.map(({ name }) => name).sort()).toEqual([
    "get_api_key",
    "get_api_key_info",
    "get_credits",
    "get_generation",
    "list_api_keys",
    "list_models",
  ]);
  expect(client.tools.every(({ annotations }) => annotations.readOnly)).toBe(true);
  expect(new Set(openrouter.requests.map(({ method }) => method))).toEqual(new Set(["GET"]));
  expect(new Set(openrouter.requests.map(({ headers }) => headers.authorization))).toEqual(
    new Set([`Bearer ${openrouter.managementKey}`]),
  );
});

test("an account with more keys than come at once is read by offset", async () => {
  await using tested = await startTested();
  tested.openrouter.keys.push(...Array.from({ length: 130 }, (_, i) => ({ hash: `hash-${i}`, name: `key ${i}` })));
  const listed = async (args: object) =>
    (JSON.parse((await tested.call("list_api_keys", { ...args })).content ?? "") as { data: { hash: string }[] }).data;
  expect([(await listed({})).length, (await listed({ offset: 100 })).map(({ hash }) => hash)[0]]).toEqual([
    100,
    "hash-100",
  ]);
  expect(await listed({ offset: 100 })).toHaveLength(30);
});

test("the list of models is asked for once, however many want it at once, and again when it is old", async () => {
  await using tested = await startTested();
  const asked = (): number => tested.openrouter.requests.filter(({ path }) => path.endsWith("/models")).length;
  tested.openrouter.faults.push({ kind: "status", status: 500 });
  expect(await tested.call("list_models")).toMatchObject({ isError: true });
  await Promise.all(Array.from({ length: 8 }, () => tested.call("list_models")));
  expect(asked()).toBe(2); // a failure is not remembered
  await using forgetful = await startTested({ modelsCacheMs: 0 });
  for (let i = 0; i < 2; i++) await forgetful.call("list_models");
  expect(forgetful.openrouter.requests).toHaveLength(2);
});

test.each<[string, OpenRouterFault, RegExp, object]>([
  [
    "401",
    { kind: "status", status: 401 },
    /refuses the API key.*OPENROUTER_API_KEY/,
    { code: "unavailable", isRetryable: false },
  ],
  ["402", { kind: "status", status: 402 }, /no credits left/, { code: "unavailable", isRetryable: false }],
  ["403", { kind: "status", status: 403 }, /management key/, { code: "unavailable", isRetryable: false }],
  [
    "429 with a wait",
    { kind: "status", status: 429, headers: { "retry-after": "7" } },
    /Try again in 7 s/,
    { code: "rate_limited", isRetryable: true, retryAfterMs: 7_000 },
  ],
  ["429 without", { kind: "status", status: 429 }, /Try again later/, { code: "rate_limited", isRetryable: true }],
  ["502", { kind: "status", status: 502 }, /status 502/, { code: "unavailable", isRetryable: true }],
  [
    "400",
    { kind: "status", status: 400, message: "offset is\u202e odd" },
    /status 400 and says: offset is odd/,
    { code: "execution_failed" },
  ],
  [
    "a redirect",
    { kind: "status", status: 302, headers: { location: "http://127.0.0.1:1/" } },
    /OPENROUTER_BASE_URL/,
    { code: "execution_failed" },
  ],
  ["silence", { kind: "silent" }, /no answer within 1000 ms/, { code: "timeout", isRetryable: true }],
  ["a reset", { kind: "reset" }, /cannot be reached/, { code: "unavailable", isRetryable: true }],
  [
    "an answer that is too large",
    { kind: "huge", bytes: 9_000_000 },
    /larger than/,
    { code: "too_large", isRetryable: false },
  ],
  [
    "an answer that is not JSON",
    { kind: "raw", body: "<html>" },
    /not JSON/,
    { code: "execution_failed", isRetryable: false },
  ],
])("%s becomes a typed error in words", async (_, fault, words, structured) => {
  await using tested = await startTested({ requestTimeoutMs: 1_000 });
  tested.openrouter.faults.push(fault);
  const failed = await tested.call("get_credits");
  expect(failed).toMatchObject({ content: expect.stringMatching(words), structured, isError: true });
  expect(failed.content).toMatch(/^Cannot read the credits: /);
  expect(failed.content).not.toContain(tested.openrouter.managementKey);
  expect(await tested.call("get_credits")).toMatchObject({ isError: false });
});

test("an API that nobody serves, and a key without the right, are told in words", async () => {
  const port = await freePort();
  await using away = await startTested({ openrouterBaseUrl: `http://127.0.0.1:${port}/api/v1` });
  expect(await away.call("get_credits")).toMatchObject({
    content: expect.stringContaining("ECONNREFUSED"),
    structured: { code: "unavailable" },
  });
  await using tested = await startTested();
  await using limited = await startTested({
    openrouterApiKey: tested.openrouter.inferenceKey,
    openrouterBaseUrl: tested.openrouter.url,
  });
  expect(await limited.call("get_credits")).toMatchObject({ content: expect.stringContaining("management key only") });
  expect(await limited.call("get_api_key_info")).toMatchObject({ isError: false });
});

test("what is not there, and what could lead elsewhere, is refused", async () => {
  await using tested = await startTested();
  const { call, openrouter } = tested;
  expect(await call("get_api_key", { keyHash: "unknown" })).toMatchObject({
    content:
      'Cannot read the key "unknown": OpenRouter knows nothing by that name (status 404). Check it; a new one may take some seconds to be known.',
    structured: { code: "invalid_arguments" },
  });
  const asked = openrouter.requests.length;
  for (const keyHash of ["..", "../credits", "a/b", "a?b", "", 7])
    expect(await call("get_api_key", { keyHash })).toMatchObject({ structured: { code: "invalid_arguments" } });
  expect(await call("get_generation", {})).toMatchObject({
    content: expect.stringContaining("generationId"),
    structured: { code: "invalid_arguments" },
  });
  expect(await call("list_api_keys", { offset: -1, page: 2 })).toMatchObject({
    content: expect.stringMatching(/offset.*page|page.*offset/),
    isError: true,
  });
  expect(openrouter.requests).toHaveLength(asked);
});
