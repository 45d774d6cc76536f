import { fence, ToolError, ToolErrorCode, visibleText } from "@rockbot/contracts";
import { describeUrl, type PublicResponse } from "@rockbot/edge/outbound";
import {
  type BodyKind,
  type BodyTextKind,
  cutAtBlock,
  decodeText,
  documentKind,
  kindByBytes,
  kindByType,
  type MarkdownPage,
  mediaTypeOf,
  PageConversionError,
  type PageConverter,
  UndecodableError,
} from "@rockbot/page";
import type { ToolCallContext } from "@rockbot/tools";

/** What a body is read with. */
export interface ReadPageOptions extends Pick<ToolCallContext, "signal" | "progress"> {
  readonly converter: PageConverter;
}

/** A body as markdown, whatever it was. */
export interface ReadPage extends MarkdownPage {
  /** Why it is not the whole: there is more than the limit holds, or the server's answer broke off. */
  readonly cut?: "limit" | "broken" | undefined;
}

type Unreadable = Extract<BodyKind, { kind: "unreadable" }>;

/** Enough of a file that is not read, to tell its type and an image's size. */
const HEAD_BYTES = 65_536;

/**
 * The body of an answer as markdown: pages and feeds converted, documents as their text, JSON by its members, prose as
 * it is, and files of other kinds in words. A text beyond the fetcher's limit ends at the border of a block.
 * @throws {ToolError} as `PublicResponse.body` does
 * @throws {ToolError} `too_large` of a document, of which a part cannot be read; `execution_failed` if it cannot be
 * converted or decoded
 */
export async function readPage(
  response: PublicResponse,
  { converter, signal, progress }: ReadPageOptions,
): Promise<ReadPage> {
  const { url } = response;
  const contentType = response.header("content-type");
  const declared = kindByType(mediaTypeOf(contentType));
  if (declared?.kind === "unreadable" && declared.document === undefined) return await describe(response, declared);

  const { bytes, isCut, isBeyondLimit } = await response.body({
    atLimit: declared?.kind === "unreadable" ? "fail" : "cut",
  });
  const isPart = isCut || response.status === 206; // nobody asked for a part
  const cut = isBeyondLimit ? "limit" : isPart ? "broken" : undefined;
  const kind = kindByBytes(bytes, declared, contentType);
  progress({ message: `Converting ${bytes.length} bytes` });
  if (kind.kind === "unreadable") {
    const document = kind.document ?? documentKind(bytes, url.pathname);
    if (document === undefined) return await describe(response, kind, bytes);
    if (cut !== undefined) throw partOfDocument(url, kind.what, cut);
    const read = await inWords(kind.what, () => converter.convertDocument(document, bytes, { signal }));
    return { ...read, cut: read.isBeginning === true ? "limit" : undefined };
  }

  if (kind.kind === "html") return await ofBody("a page", kind.isXml === true ? "xhtml" : "html");
  if (kind.kind === "feed") return await ofBody("a feed", "feed");
  if (kind.fence === "json") return await ofBody("JSON", "json");
  const whole = decodeText(bytes, contentType);
  if (whole === undefined) throw undecodable(url);
  const seen = visibleText(cut === "limit" ? cutAtBlock(whole.replace(/\ufffd{1,3}$/, ""), kind) : whole);
  return {
    title: null,
    markdown: kind.fence === undefined || seen.trim() === "" ? seen.trim() : fence(seen, kind.fence),
    cut,
  };

  /** Bytes wait for the converter as they came: their text would take as much again. */
  async function ofBody(what: string, kind: BodyTextKind): Promise<ReadPage> {
    const options = { contentType, isBeginning: cut === "limit", signal };
    const read = await inWords(what, () => converter.convertBody(kind, bytes, url.href, options));
    if (cut === "broken" && read.markdown === "") throw brokeOff(url);
    return { ...read, cut };
  }

  /** The type and size of a file that is not read. @param read its bytes, if these have come */
  async function describe(response: PublicResponse, { what }: Unreadable, read?: Uint8Array): Promise<ReadPage> {
    const { bytes, isBeyondLimit } =
      read === undefined
        ? await response.body({ maxBytes: HEAD_BYTES, atLimit: "cut" })
        : { bytes: read, isBeyondLimit: false };
    const exact = kindByBytes(bytes, undefined);
    const named = exact.kind === "unreadable" && exact.what !== "binary data" ? exact.what : what;
    const facts = [
      named === "an image" ? await imageFacts(bytes) : named,
      sizeOf(response, bytes.length, isBeyondLimit),
    ].join(", ");
    return {
      title: null,
      markdown: `(This is ${facts}. Only text can be read here. Look for a page that says the same.)`,
    };
  }

  async function imageFacts(bytes: Uint8Array): Promise<string> {
    try {
      const { type, width, height } = await converter.imageFacts(bytes, { signal });
      return `an image of the type ${type}, ${width} × ${height} pixels`;
    } catch (error) {
      if (!(error instanceof PageConversionError)) throw error;
      return "an image";
    }
  }

  async function inWords<T>(what: string, convert: () => Promise<T>): Promise<T> {
    try {
      return await convert();
    } catch (error) {
      if (error instanceof UndecodableError) throw undecodable(url);
      if (!(error instanceof PageConversionError)) throw error;
      throw new ToolError(
        ToolErrorCode.ExecutionFailed,
        `Cannot turn ${describeUrl(url)}, which is ${what}, into markdown: ${error.message}. Look for a simpler page.`,
        { cause: error },
      );
    }
  }
}

function sizeOf(response: PublicResponse, bytes: number, isBeginning: boolean): string {
  const said = Number(response.header("content-length") ?? Number.NaN);
  const isSaid = response.header("content-encoding") === undefined && Number.isSafeInteger(said) && said >= bytes;
  return isSaid ? `${said} bytes` : `${isBeginning ? "more than " : ""}${bytes} bytes`;
}

function partOfDocument(url: URL, what: string, cut: "limit" | "broken"): ToolError {
  const cannot = `Cannot read ${describeUrl(url)}: it is ${what}, of which a part cannot be read, and`;
  return cut === "limit"
    ? new ToolError(
        ToolErrorCode.TooLarge,
        `${cannot} it is larger than the limit. Look for a page that says the same.`,
      )
    : new ToolError(ToolErrorCode.Unavailable, `${cannot} the server's answer broke off. Try again.`);
}

const brokeOff = (url: URL): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `Cannot read ${describeUrl(url)}: the server's answer broke off before the first of its text. Try again.`,
  );

/** Rather no answer than one that reads as if it were the page. */
const undecodable = (url: URL): ToolError =>
  new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot read ${describeUrl(url)}: it does not say in which encoding its characters are, and they make no text in any that is known. Look for a page that says the same.`,
  );
