import {
  createMemoryPageStore,
  createPublicFetch,
  fetchedRobots,
  hostAndPort,
  type PageStore,
} from "@rockbot/edge/outbound";
import { createPageConverter } from "@rockbot/page";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import type { OwnedToolSet } from "@rockbot/process/tool-set";
import type { Tool, ToolCaller } from "@rockbot/tools";
import { renderWith } from "./browse/render-with.ts";
import type { WebToolsConfig } from "./generated/config.ts";
import { createGithubReader } from "./github/read-github.ts";
import { chooseSearch } from "./search/choose-search.ts";
import { htmlToTextTool } from "./tools/html-to-text.ts";
import { webBrowse } from "./tools/web-browse.ts";
import { webSearch } from "./tools/web-search.ts";
import { webToolsGuide } from "./web-tools-guide.ts";

/** The parts of the process that the tools use. */
export interface WebToolSetOptions {
  /** Says who may read what is private. @default nobody may */
  readonly policy?: PolicyHolder<Readers<"credentials">> | undefined;
  /** Calls page-renderer. @default no page is drawn by a browser */
  readonly caller?: Pick<ToolCaller, "call" | "tools"> | undefined;
  /** Keeps pages for all instances. @default each keeps its own */
  readonly pageStore?: PageStore | undefined;
}

/**
 * The tools that `config` allows: `web_search` is there only with a search service, as a tool that can only fail
 * misleads a model.
 * @throws {RangeError} if an exception of `allowAddresses` cannot be read
 */
export function webToolSet(
  config: Readonly<WebToolsConfig>,
  { policy, pageStore, caller }: WebToolSetOptions = {},
): OwnedToolSet {
  const { maxSearchResults, allowAddresses, allowPorts, maxPageBytes, fetchTimeoutMs, idleTimeoutMs, userAgent } =
    config;
  const open = new AsyncDisposableStack();
  const allowedBy = "ALLOW_ADDRESSES, or --allow-address of the command";
  const limits = { maxBytes: maxPageBytes, timeoutMs: fetchTimeoutMs, idleTimeoutMs };
  const { pageCacheBytes: maxBytes } = config;
  const store = maxBytes === 0 ? undefined : (pageStore ?? createMemoryPageStore({ maxBytes }));
  const fetch = open.use(createPublicFetch({ allowAddresses, allowedBy, allowPorts, ...limits, userAgent, store }));
  const permit =
    config.robotsPolicy === "respect" ? fetchedRobots(fetch, { setting: "ROBOTS_POLICY" }).permit : undefined;
  const converter = open.use(
    createPageConverter({
      timeoutMs: config.convertTimeoutMs,
      processes: config.converters,
      maxLength: 2 * maxPageBytes,
    }),
  );
  const readRendered = caller && renderWith(caller, converter);
  // The operator names the addresses of services, so they may be private. Pages may not use these exceptions, and no
  // error shows them.
  const serviceFetch = (called: string, address: string, maxBytes: number) =>
    open.use(
      createPublicFetch({
        called,
        allowAddresses: [address],
        allowPorts: [],
        maxBytes,
        timeoutMs: fetchTimeoutMs,
        idleTimeoutMs,
        userAgent,
      }),
    );
  const { githubApiUrl: baseUrl, githubToken: token, githubHost: host } = config;
  const readGithub = createGithubReader({
    baseUrl,
    token,
    host,
    policy,
    fetch: serviceFetch("GitHub's API", hostAndPort(baseUrl), maxPageBytes),
  });
  const tools = [htmlToTextTool({ converter }), webBrowse({ fetch, permit, converter, readRendered, readGithub })];
  const search = chooseSearch(config);
  if (search.name !== undefined) {
    tools.push(
      webSearch({
        load: search.load,
        fetch: serviceFetch("the search service", search.address, 2_000_000),
        maxResults: maxSearchResults,
      }),
    );
  }
  return {
    tools: tools.map((tool) => withSize(tool, config)),
    guides: [webToolsGuide({ search, maxSearchResults, isRendering: caller !== undefined })],
    off: webToolsOff(config),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** The tool with the bounds of `config` in its announcement, if it has any. */
function withSize(
  tool: Tool,
  { chunkingThreshold: threshold, chunkMaxLength: chunkLength, chunkTtlMinutes }: Readonly<WebToolsConfig>,
): Tool {
  const { definition } = tool;
  if (definition.resultSize === undefined) return tool;
  return {
    ...tool,
    definition: {
      ...definition,
      resultSize: { ...definition.resultSize, threshold, chunkLength, keptSeconds: chunkTtlMinutes * 60 },
    },
  };
}

/** The tools that `config` leaves out, and what has to be set for each. */
export function webToolsOff(config: Readonly<WebToolsConfig>): OwnedToolSet["off"] {
  const search = chooseSearch(config);
  return search.name === undefined ? [{ tool: "web_search", reason: search.missing }] : [];
}
