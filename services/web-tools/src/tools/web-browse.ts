import { saidBy, ToolError, tools, withTrust } from "@rockbot/contracts";
import {
  describeUrl,
  type FetchOptions,
  type PublicFetch,
  type PublicResponse,
  statusError,
} from "@rockbot/edge/outbound";
import { mediaTypeOf, type PageConverter } from "@rockbot/page";
import { fileNameOfUrl, shownFile } from "@rockbot/records/files";
import { type CallFiles, defineTool, filesOf, type Tool } from "@rockbot/tools";
import { askTwice } from "../ask-twice.ts";
import { type ReadPage, readPage } from "../browse/read-page.ts";
import type { ReadRendered } from "../browse/render-with.ts";
import type { ReadGithub } from "../github/read-github.ts";

export interface WebBrowseOptions {
  readonly fetch: PublicFetch;
  /** Has a say on each address, as `FetchOptions` has it. @default none */
  readonly permit?: FetchOptions["permit"];
  readonly converter: PageConverter;
  /** Draws pages that need a browser. @default none is there */
  readonly readRendered?: ReadRendered | undefined;
  /** Has the first word on every address. */
  readonly readGithub: ReadGithub;
}

/**
 * `web_browse`: the readable content of one public web page, feed or document as markdown; files of other kinds in
 * words.
 */
export function webBrowse({ fetch, permit, converter, readRendered, readGithub }: WebBrowseOptions): Tool {
  async function fetchPage(requested: string, signal: AbortSignal): Promise<PublicResponse> {
    const response = await fetch(requested, { signal, permit });
    const { url, status, retryAfterMs } = response;
    if (status >= 200 && status <= 299) return response;
    await response[Symbol.asyncDispose]();
    throw told(statusError(describeUrl(url), status, retryAfterMs), response, requested);
  }

  return defineTool(tools.webBrowse, async ({ url: requested, keep = false }, context) => {
    const { signal, deadline, caller, progress } = context;
    progress({ message: "Fetching the page" });
    if (keep) {
      const files = filesOf(context);
      await using response = await askTwice(() => fetchPage(requested, signal), { signal, deadline });
      return await keepPage(response, files).catch((error: unknown) => {
        throw told(error, response, requested);
      });
    }
    const github = await askTwice(() => readGithub(requested, { caller, signal }), { signal, deadline });
    if (github !== undefined) {
      const structured = {
        url: requested,
        title: github.title,
        contentType: "text/markdown",
        truncated: false,
        needsBrowser: false,
      };
      return { content: contentOf(github), structured, trust: saidBy(requested) };
    }
    await using response = await askTwice(() => fetchPage(requested, signal), { signal, deadline });
    const { url } = response;
    const plain = await readPage(response, { converter, signal, progress }).catch((error: unknown) => {
      throw told(error, response, requested);
    });
    const drawn = plain.needsBrowser === true ? await readRendered?.(url, context) : undefined;
    const { page, url: at } = drawn !== undefined && "page" in drawn ? drawn : { page: plain, url: url.href };
    return {
      content:
        drawn !== undefined && "failure" in drawn
          ? `${contentOf(page)}\n\n(A browser was tried, too. ${drawn.failure})`
          : contentOf(page),
      structured: {
        url: at,
        title: page.title,
        contentType: mediaTypeOf(response.header("content-type")),
        truncated: page.cut !== undefined || page.lacksText === true,
        needsBrowser: page.needsBrowser === true,
      },
      trust: saidBy(at),
    };
  });
}

/** Leaves the bytes of a page or file as they are, all of them. @throws {ToolError} as `PublicResponse.body` does */
async function keepPage(response: PublicResponse, files: CallFiles) {
  const { url } = response;
  const contentType = mediaTypeOf(response.header("content-type"));
  const { bytes } = await response.body();
  const name = fileNameOfUrl(url, "page");
  const kept = shownFile(await files.leave({ name, type: contentType, isUntrusted: true, bytes: [bytes] }));
  return {
    content: `Kept ${describeUrl(url)} as ${kept.handle}: ${kept.type}, ${kept.size} bytes.`,
    structured: { url: url.href, title: null, contentType, truncated: false, needsBrowser: false, files: [kept] },
    trust: saidBy(url.href),
  };
}

/** A place that the site redirects to is named by the site. */
const told = (error: unknown, { url }: PublicResponse, requested: string): unknown =>
  error instanceof ToolError && url.href !== URL.parse(requested)?.href ? withTrust(error, saidBy(requested)) : error;

const why = {
  limit: "(The page is longer than what is read of one: it goes on after this.)",
  broken: "(The server's answer broke off here: the page may be longer.)",
} as const;

/** What the page says of itself, its title unless its text begins with it, and its text. */
function contentOf({ title, markdown, frontMatter, cut }: ReadPage): string {
  const body = markdown === "" ? "(The page holds no text.)" : markdown;
  const [, heading] = /^# (.+)\n/.exec(body) ?? [];
  // A title that looks like markup, or a link, is text.
  const shown = title?.replaceAll(/<(?=[a-z/!?])|&(?=#?\w{1,32};)|(?<=\])[([]/gi, "\\$&");
  const isSaid = title === null || (heading !== undefined && title.includes(heading));
  const content = `${frontMatter === undefined ? "" : `${frontMatter}\n`}${isSaid ? body : `# ${shown}\n\n${body}`}`;
  return cut === undefined ? content : `${content}\n\n${why[cut]}`;
}
