import { createMemoryBus } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { createMemoryFileStore } from "@rockbot/records/files";
import { type Page, startFakeBrave, startGithubServer, startPageServer } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { configSchema } from "./generated/config.ts";
import { type StartWebToolsOptions, startWebTools } from "./web-tools.ts";

/**
 * Starts the whole service in memory for tests, in front of a site with `pages`, a search API and GitHub. Configured by
 * the environment, as in earnest.
 */
export async function startTestWebTools(
  pages: Readonly<Record<string, Page>> = {},
  env: Readonly<Record<string, string>> = {},
  { policy, pageStore }: Partial<Pick<StartWebToolsOptions, "policy" | "pageStore">> = {},
) {
  await using started = new AsyncDisposableStack();
  const site = started.use(await startPageServer(pages));
  const brave = started.use(await startFakeBrave());
  const github = started.use(await startGithubServer({ token: "github_pat_canary" }));
  const config = loadConfig(configSchema, {
    env: {
      ALLOW_ADDRESSES: `127.0.0.1:${site.port}`,
      BRAVE_API_KEY: brave.apiKey,
      BRAVE_BASE_URL: brave.url,
      GITHUB_API_URL: github.url,
      ...env,
    },
  });
  const bus = started.use(createMemoryBus());
  const { files } = started.use(createMemoryFileStore());
  const options = { service: "web-tools", topic: "tool.invoke", policy, pageStore, files };
  started.use(await startWebTools(bus, config, options));
  const caller = started.use(await createToolCaller(bus, { agent: "tester", files }));
  await caller.discovered();
  const open = started.move();
  return {
    site,
    brave,
    github,
    caller,
    files,
    browse: (path: string) => caller.call("web_browse", { url: site.url + path }),
    search: (query: string, options: Readonly<Record<string, unknown>> = {}) =>
      caller.call("web_search", { query, ...options }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
