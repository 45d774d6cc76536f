import { createMemoryBus } from "@rockbot/bus";
import { ToolErrorCode } from "@rockbot/contracts";
import { createMemoryPageStore } from "@rockbot/edge/outbound";
import { ConfigError, loadConfig } from "@rockbot/process/config";
import { startPageServer } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { configSchema } from "./generated/config.ts";
import { chooseSearch } from "./search/choose-search.ts";
import { check } from "./settings.ts";
import { startTestWebTools } from "./test-web-tools.ts";
import { webToolsOff } from "./web-tool-set.ts";
import { startWebTools } from "./web-tools.ts";

test("both tools are offered, with a guide", async () => {
  await using web = await startTestWebTools();

  expect(web.caller.tools.getTools().map(({ name }) => name)).toEqual(
    expect.arrayContaining(["web_browse", "web_search"]),
  );
  expect(await web.caller.getGuides()).toEqual([
    expect.objectContaining({
      name: "web-tools",
      document: expect.stringContaining("`web_search` gives up to 5 results"),
    }),
  ]);
});

test("agents learn from the bus from when on results are too large for a model, and how to keep them", async () => {
  await using web = await startTestWebTools();

  for (const name of ["web_browse", "web_search"]) {
    expect(web.caller.tools.get(name)?.resultSize).toEqual({
      threshold: 8_000,
      chunkLength: 4_000,
      keptSeconds: 1_800,
      key: "url",
    });
  }
  expect(web.caller.tools.get("html_to_text")?.resultSize).toBeUndefined();
  await using own = await startTestWebTools(
    {},
    { CHUNKING_THRESHOLD: "900", CHUNK_MAX_LENGTH: "600", CHUNK_TTL_MINUTES: "5" },
  );
  expect(own.caller.tools.get("web_browse")?.resultSize).toEqual({
    threshold: 900,
    chunkLength: 600,
    keptSeconds: 300,
    key: "url",
  });
});

test("the robots.txt of a site decides where the operator says so, and a page that may be kept is asked for once", async () => {
  const pages = {
    "/robots.txt": { headers: { "content-type": "text/plain" }, body: "User-agent: *\nDisallow: /closed" },
    "/closed": "<p>Closed.",
    "/open": { headers: { "cache-control": "max-age=60" }, body: "<p>Open." },
  };
  await using obeying = await startTestWebTools(pages, { ROBOTS_POLICY: "respect" });
  await using plain = await startTestWebTools(pages);

  await expect(obeying.browse("/closed")).rejects.toMatchObject({ code: "denied", details: { reason: "robots" } });
  for (const fragment of ["", "#a", "#b"])
    expect((await obeying.browse(`/open${fragment}`)).content).toContain("Open.");
  expect((await plain.browse("/closed")).content).toContain("Closed.");
  expect(obeying.site.requests.map(({ path }) => path)).toEqual(["/robots.txt", "/open"]);
  expect(plain.site.requests.map(({ path }) => path)).toEqual(["/closed"]);
});

test("instances with one store ask a site once for what may be kept, and those that keep nothing each time", async () => {
  await using site = await startPageServer({ "/": { headers: { "cache-control": "max-age=60" }, body: "<p>Kept." } });
  const pageStore = createMemoryPageStore({ maxBytes: 1_000_000 });
  const env = { ALLOW_ADDRESSES: `127.0.0.1:${site.port}` };
  await using one = await startTestWebTools({}, env, { pageStore });
  await using two = await startTestWebTools({}, env, { pageStore });
  await using none = await startTestWebTools({}, { ...env, PAGE_CACHE_BYTES: "0" }, { pageStore });

  for (const web of [one, two, none]) {
    expect((await web.caller.call("web_browse", { url: `${site.url}/` })).content).toBe("Kept.");
  }
  expect(site.requests).toHaveLength(2);
});

test("the guide says when to search and to browse, how to read chunks, and what each error means", async () => {
  await using web = await startTestWebTools();
  const [guide] = await web.caller.getGuides();
  const document = guide?.document ?? "";

  for (const part of [
    "## When to search",
    "`freshness`",
    "## When to browse",
    "`get_from_working_memory`",
    "30 minutes",
    "written by strangers",
  ])
    expect(document).toContain(part);
  const { InvalidArguments, ExecutionFailed, Unavailable, RateLimited, TooLarge, Timeout, Denied } = ToolErrorCode;
  for (const code of [InvalidArguments, ExecutionFailed, Unavailable, RateLimited, TooLarge, Timeout, Denied])
    expect(document).toMatch(new RegExp(`^\\| \`${code}\` \\|`, "m"));
});

test.each([
  ["Brave where both are set", { BRAVE_API_KEY: "key", SEARXNG_BASE_URL: "http://search.example" }, "brave"],
  ["SearXNG where it alone is set", { SEARXNG_BASE_URL: "http://search.example" }, "searxng"],
  [
    "what the operator chooses",
    { BRAVE_API_KEY: "key", SEARXNG_BASE_URL: "http://search.example", SEARCH_PROVIDER: "searxng" },
    "searxng",
  ],
  ["nothing where the chosen one is not set", { BRAVE_API_KEY: "key", SEARCH_PROVIDER: "searxng" }, undefined],
])("web_search asks %s", (_, env, name) => {
  expect(chooseSearch(loadConfig(configSchema, { env })).name).toBe(name);
});

test("without a key web_search is not offered, and the guide, the log and the configuration say why", async () => {
  const config = loadConfig(configSchema, { env: {} });
  const logged: object[] = [];
  const log = { debug() {}, info: (fields: object) => logged.push(fields), warn() {}, error() {} };
  await using bus = createMemoryBus();
  await using _web = await startWebTools(bus, config, { service: "web-tools", log });
  await using caller = await createToolCaller(bus, { agent: "tester" });
  await caller.discovered();

  expect(caller.tools.getExecutor("web_browse")).toBeDefined();
  expect(caller.tools.getExecutor("web_search")).toBeUndefined();
  await expect(caller.call("web_search", { query: "x" })).rejects.toMatchObject({ code: "unavailable" });
  expect((await caller.getGuides())[0]?.document).toContain("BRAVE_API_KEY");
  expect(logged).toContainEqual({ tool: "web_search", reason: expect.stringContaining("set BRAVE_API_KEY") });
  expect(webToolsOff(config)).toEqual([{ tool: "web_search", reason: expect.stringContaining("BRAVE_API_KEY") }]);
});

test("every address exception that cannot be read is a fault of the configuration", () => {
  const load = () =>
    loadConfig(configSchema, { env: { ALLOW_ADDRESSES: "nonsense,127.0.0.1:80,10.0.0.0/99" }, check: check });

  expect(load).toThrow(ConfigError);
  expect(load).toThrow(/allowAddresses\.0: .*"nonsense".*allowAddresses\.2: .*"10\.0\.0\.0\/99"/s);
});

test("a service whose start was given up does not start", async () => {
  await using bus = createMemoryBus();

  await expect(
    startWebTools(bus, loadConfig(configSchema, { env: {} }), {
      service: "web-tools",
      signal: AbortSignal.abort(new Error("stop")),
    }),
  ).rejects.toThrow("stop");
});
