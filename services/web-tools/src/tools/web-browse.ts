import { ToolError, ToolErrorCode, tools, visibleText } from "@rockbot/contracts";
import { describeUrl, type PublicFetch, statusError } from "@rockbot/edge/outbound";
import {
  type BodyKind,
  decodeText,
  fence,
  kindByBytes,
  kindByType,
  type MarkdownPage,
  mediaTypeOf,
  PageConversionError,
  type PageConverter,
} from "@rockbot/page";
import { defineTool, type Tool } from "@rockbot/tools";

export interface WebBrowseOptions {
  readonly fetch: PublicFetch;
  readonly converter: PageConverter;
}

/** `web_browse`: the readable content of one public web page as markdown. A text that is no HTML comes as it is, fenced unless it is prose. */
export function webBrowse({ fetch, converter }: WebBrowseOptions): Tool {
  return defineTool(tools.webBrowse, async ({ url: requested }, { signal, progress }) => {
    progress({ message: "Fetching the page" });
    await using response = await fetch(requested, { signal });
    const { url, status, retryAfterMs } = response;
    if (status < 200 || status > 299) throw statusError(describeUrl(url), status, retryAfterMs);
    const contentType = response.header("content-type");
    const declared = readable(url, kindByType(mediaTypeOf(contentType)));
    const { bytes, isCut } = await response.body();
    const kind = readable(url, kindByBytes(bytes, declared));
    const text = decodeText(bytes, contentType);
    if (text === undefined) throw undecodable(url);
    progress({ message: `Converting ${bytes.length} bytes` });
    const { title, markdown } = kind?.kind === "html" ? await convert(text, url, signal) : { title: null, markdown: asMarkdown(text, kind?.fence) };
    return {
      content: isCut ? `${contentOf(title, markdown)}\n\n${CUT}` : contentOf(title, markdown),
      structured: { url: url.href, title, contentType: mediaTypeOf(contentType) },
      trust: { level: "untrusted", origin: url.href },
    };
  });

  async function convert(html: string, url: URL, signal: AbortSignal): Promise<MarkdownPage> {
    try {
      return await converter.convert(html, url.href, { signal });
    } catch (error) {
      if (!(error instanceof PageConversionError)) throw error;
      throw new ToolError(ToolErrorCode.ExecutionFailed, `Cannot turn ${describeUrl(url)} into markdown: ${error.message}. Look for a simpler page.`, {
        cause: error,
      });
    }
  }
}

const CUT = "(The server's answer broke off here: the page may be longer.)";

/** Rather no answer than one that reads as if it were the page. */
const undecodable = (url: URL): ToolError =>
  new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot read ${describeUrl(url)}: it does not say in which encoding its characters are, and they make no text in any that is known. Look for a page that says the same.`,
  );

type Readable = Exclude<BodyKind, { kind: "unreadable" }>;

/** @throws {ToolError} if `kind` is nothing that can be read as text */
function readable(url: URL, kind: BodyKind | undefined): Readable | undefined {
  if (kind?.kind !== "unreadable") return kind;
  throw new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot read ${describeUrl(url)}: it is ${kind.what}, and only text can be read. Look for a page that says the same.`,
  );
}

function asMarkdown(text: string, language: string | undefined): string {
  const seen = visibleText(text);
  return language === undefined || seen.trim() === "" ? seen.trim() : fence(seen, language);
}

function contentOf(title: string | null, markdown: string): string {
  const body = markdown === "" ? "(The page holds no text that can be read without running its scripts.)" : markdown;
  return title === null || body.startsWith(`# ${title}\n`) ? body : `# ${title}\n\n${body}`;
}
