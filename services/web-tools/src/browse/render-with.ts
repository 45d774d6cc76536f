import { ToolError, tools } from "@rockbot/contracts";
import { describeUrl } from "@rockbot/edge/outbound";
import { PageConversionError, type PageConverter } from "@rockbot/page";
import type { ToolCallContext, ToolCaller } from "@rockbot/tools";
import type { ReadPage } from "./read-page.ts";

/** A page as a browser has drawn it, or why there is none, in words for the model. */
export type RenderedRead = { readonly url: string; readonly page: ReadPage } | { readonly failure: string };

/**
 * Has a page drawn by a browser; undefined while no service offers that.
 * @throws the signal's reason once the call is over
 */
export type ReadRendered = (url: URL, context: ToolCallContext) => Promise<RenderedRead | undefined>;

/** A browser's page is not waited for longer, in milliseconds. */
const MAX_MS = 40_000;
/** For what is left to do with the page, in milliseconds. */
const RESERVE_MS = 3_000;
/** Less is not worth the start of a browser, in milliseconds. */
const MIN_MS = 2_000;

/**
 * Asks the service page-renderer over the bus. A page that cannot be drawn is no failure of the call: there is what it
 * holds without its scripts.
 */
export function renderWith(caller: Pick<ToolCaller, "call" | "tools">, converter: PageConverter): ReadRendered {
  return async (url, context) => {
    const timeoutMs = Math.min(MAX_MS, context.deadline - performance.now() - RESERVE_MS);
    if (timeoutMs < MIN_MS || caller.tools.get(tools.renderPage.name) === undefined) return undefined;
    context.progress({ message: "Drawing the page in a browser" });
    try {
      const { content, structured } = await caller.call(
        tools.renderPage.name,
        { url: url.href },
        { parent: context, timeoutMs },
      );
      const { url: at, truncated } = structured as { readonly url: string; readonly truncated: boolean };
      const page = await converter.convert(content ?? "", at, { signal: context.signal, isDrawn: true });
      if (page.markdown === "") return { failure: "It shows no text there either." };
      return { url: at, page: { ...page, cut: truncated ? "limit" : undefined } };
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof ToolError || error instanceof PageConversionError)) throw error;
      context.log.info({ page: describeUrl(url), reason: error.message }, "a page could not be drawn by a browser");
      return { failure: error.message };
    }
  };
}
