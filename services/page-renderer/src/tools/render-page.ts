import { saidBy, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { type RenderLimits, renderPage } from "../browser/render-page.ts";

/** `render_page`: the HTML that the scripts of one public page have made. */
export function renderPageTool(limits: RenderLimits): Tool {
  return defineTool(tools.renderPage, async ({ url }, { signal, progress }) => {
    progress({ message: "Starting a browser" });
    const page = await renderPage(url, { ...limits, signal });
    return {
      content: page.html,
      structured: { url: page.url, truncated: page.isCut, settled: page.isSettled },
      trust: saidBy(page.url),
    };
  });
}
