import type { Bus } from "@rockbot/bus";
import { type RunningToolSet, startToolSet } from "@rockbot/process/tool-set";
import type { StartServiceOptions } from "@rockbot/tools";
import type { PageRendererConfig } from "./generated/config.ts";
import { renderPageTool } from "./tools/render-page.ts";

/**
 * Serves `render_page` from the bus, if there is a browser. Disposal waits for running pages, at most
 * `shutdownGraceMs`, and then kills their browsers.
 * @throws {RangeError} if an exception of `allowAddresses` cannot be read
 */
export async function startPageRenderer(
  bus: Bus,
  config: Readonly<PageRendererConfig>,
  options: StartServiceOptions,
): Promise<RunningToolSet> {
  const { browserPath } = config;
  const off = { tool: "render_page", reason: "It needs a Chromium: set BROWSER_PATH, such as to /usr/bin/chromium." };
  const set = {
    tools: browserPath === undefined ? [] : [renderPageTool({ ...config, browserPath })],
    guides: [],
    off: browserPath === undefined ? [off] : [],
    async [Symbol.asyncDispose]() {},
  };
  return await startToolSet(bus, set, config, options);
}
