import { unlessAborted } from "@rockbot/base";
import { saidBy, ToolError, ToolErrorCode, withTrust } from "@rockbot/contracts";
import { describeUrl, type ForwardProxy, startForwardProxy, statusError } from "@rockbot/edge/outbound";
import type { BrowserContext, CDPSession, Page, Response } from "playwright-core";
import { BrowserMemoryError, startBrowser } from "./start-browser.ts";

/** The browser, and the bounds of one page. */
export interface RenderLimits {
  readonly browserPath: string;
  readonly browserSandbox: boolean;
  readonly pageTimeoutMs: number;
  readonly settleMs: number;
  readonly pageMemoryBytes: number;
  readonly maxPageBytes: number;
  readonly maxTransferBytes: number;
  readonly allowPorts: readonly number[];
  readonly allowAddresses: readonly string[];
}

export interface RenderOptions extends RenderLimits {
  readonly signal: AbortSignal;
}

/** A page as its scripts have made it. */
export interface RenderedPage {
  /** Where the browser was in the end. */
  readonly url: string;
  readonly html: string;
  /** True if the HTML is longer. */
  readonly isCut: boolean;
  /** True if the page had fetched all that it wanted. */
  readonly isSettled: boolean;
}

/**
 * Opens a page in a browser that is there for it alone, with an empty profile, and kills that afterwards. All traffic
 * goes by a proxy that reaches public addresses only. Nothing is downloaded, no dialog stays open, no window opens.
 * @throws {ToolError} `invalid_arguments` if it is no http(s) URL; `denied` if policy forbids the address
 * @throws {ToolError} `unavailable` if there is no browser, or the page cannot be reached
 * @throws {ToolError} as `statusError` if the server answers with an error; `execution_failed` if it answers with no
 * page, or the page leads to none
 * @throws {ToolError} `unavailable` if the server does not answer in time; `execution_failed` if the scripts do not let
 * the page be read in time; `too_large` if it needs more memory than it may
 */
export async function renderPage(address: string, options: RenderOptions): Promise<RenderedPage> {
  const url = httpUrl(address);
  if (url === undefined)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      "Cannot render the page: only http:// and https:// URLs can be opened.",
    );
  const until = performance.now() + options.pageTimeoutMs;
  const late = AbortSignal.timeout(options.pageTimeoutMs);
  const over = AbortSignal.any([options.signal, late]);
  await using open = new AsyncDisposableStack();
  const { allowPorts, allowAddresses, maxTransferBytes: maxBytes } = options;
  let answer: Response | undefined;
  const proxy = open.use(await startForwardProxy({ allowPorts, allowAddresses, maxBytes }));
  try {
    const starting = startBrowser({ ...options, proxyUrl: proxy.url, timeoutMs: options.pageTimeoutMs });
    // A browser that comes too late is killed all the same.
    open.defer(async () => void (await (await starting.catch(() => undefined))?.[Symbol.asyncDispose]()));
    const { browser, tooLarge } = await unlessAborted(starting, over);
    const context = await browser.newContext({
      acceptDownloads: false,
      serviceWorkers: "block",
      javaScriptEnabled: true,
      permissions: [],
    });
    const reading = readPage(context, url, { ...options, until, onAnswer: (response) => (answer = response) });
    reading.catch(() => {}); // what ends it first counts
    const page = await unlessAborted(Promise.race([reading, tooLarge]), over);
    if (isDenied(proxy, page.url)) throw denied(url);
    return page;
  } catch (error) {
    options.signal.throwIfAborted();
    throw renderError(url, error, { proxy, isLate: late.aborted, answer, options });
  }
}

interface ReadPageOptions extends RenderOptions {
  /** When the page's time is over, on the clock of `performance.now()`. */
  readonly until: number;
  /** Called with each document that a server has answered with. */
  readonly onAnswer: (answer: Response) => void;
}

/** How often a document is read whose page leads elsewhere meanwhile. */
const MAX_READS = 3;

async function readPage(
  context: BrowserContext,
  url: URL,
  { settleMs, maxPageBytes, until, onAnswer }: ReadPageOptions,
): Promise<RenderedPage> {
  const page = await context.newPage();
  /** With the page's document: of the last place where it has led. */
  let answer: Response | undefined;
  page.on("response", (response) => {
    if (!response.request().isNavigationRequest() || response.frame() !== page.mainFrame()) return;
    answer = response;
    onAnswer(response);
  });
  context.on("page", (other) => void (other === page || other.close().catch(() => {})));
  page.on("dialog", (dialog) => void dialog.dismiss().catch(() => {}));
  // For the library a page that leads to another program, as by mailto:, never comes further than that.
  await page.goto(url.href, { waitUntil: "commit", timeout: 0 });
  // A document that does not end is read as far as it came.
  const isWhole = await isReached(page, "domcontentloaded", Math.max(1, (until - performance.now()) / 2));
  const isSettled = await isReached(page, "networkidle", Math.max(1, settleMs));
  for (let reads = 1; ; reads++) {
    try {
      const at = page.url();
      const place = httpUrl(at);
      if (place === undefined) throw noPage(url, `it leads to ${at.slice(0, 20)}, which is not a web page`);
      if (answer !== undefined) checkAnswer(url, place, answer);
      const html = await htmlOf(page, await context.newCDPSession(page), maxPageBytes);
      return {
        url: at,
        html: html.slice(0, maxPageBytes),
        isCut: html.length > maxPageBytes,
        isSettled: isWhole && isSettled,
      };
    } catch (error) {
      if (error instanceof ToolError || reads === MAX_READS || page.isClosed()) throw error;
    }
  }
}

const isReached = (page: Page, state: "domcontentloaded" | "networkidle", timeout: number): Promise<boolean> =>
  page.waitForLoadState(state, { timeout }).then(
    () => true,
    () => false,
  );

/** @throws {ToolError} if it is an error, or no page */
function checkAnswer(url: URL, at: URL, answer: Response): void {
  const status = answer.status();
  if (status >= 400)
    throw withTrust(
      statusError(describeUrl(at), status, undefined),
      at.href === url.href ? undefined : saidBy(describeUrl(url)),
    );
  const type = answer.headers()["content-type"]?.split(";")[0]?.trim().toLowerCase() ?? "";
  // What the browser shows of other kinds is a viewer of its own.
  if (/^(?:application\/pdf|image\/(?!svg)|audio\/|video\/)/.test(type))
    throw noPage(url, `it is of the type ${type}, not a page. It needs no browser`);
}

/** @param why in the page's words, too: where it leads, and its type */
const noPage = (url: URL, why: string): ToolError =>
  new ToolError(ToolErrorCode.ExecutionFailed, `Cannot render ${describeUrl(url)}: ${why}.`, {
    trust: saidBy(describeUrl(url)),
  });

/**
 * The HTML of the document with its open shadow trees. It is cut where it is made, in a world where the page has
 * changed no function.
 */
async function htmlOf(page: Page, session: CDPSession, most: number): Promise<string> {
  await page.evaluate("0"); // waits until a navigation that has begun is over
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  const { result } = await session.send("Runtime.evaluate", {
    expression: `(${READ})(${most + 1})`,
    contextId: executionContextId,
    returnByValue: true,
  });
  if (typeof result.value !== "string") throw new Error("its document cannot be read");
  return result.value;
}

const READ = `(most) => {
  const root = document.documentElement;
  if (root === null) return "";
  const shadowRoots = [];
  const walk = (tree) => {
    for (const element of tree.querySelectorAll("*")) {
      if (element.shadowRoot === null || shadowRoots.length >= 1000) continue;
      shadowRoots.push(element.shadowRoot);
      walk(element.shadowRoot);
    }
  };
  walk(document);
  const head = "<!doctype html><html" + [...root.attributes].map(({ name, value }) => " " + name + '="' + value.replaceAll("&", "&amp;").replaceAll('"', "&quot;") + '"').join("") + ">";
  return (head + root.getHTML({ shadowRoots }) + "</html>").slice(0, most);
}`;

function httpUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url !== null &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.username === "" &&
    url.password === ""
    ? url
    : undefined;
}

function isDenied({ denied }: ForwardProxy, url: string): boolean {
  const at = URL.parse(url);
  if (at === null) return false;
  const port = at.port || (at.protocol === "https:" ? "443" : "80");
  return denied.includes(at.host) || denied.includes(`${at.hostname}:${port}`);
}

const denied = (url: URL): ToolError =>
  new ToolError(
    ToolErrorCode.Denied,
    `Cannot render ${describeUrl(url)}: the host is not on the public Internet. A page reaches only public addresses, unless the operator allows more (ALLOW_ADDRESSES of page-renderer).`,
  );

interface Circumstances {
  readonly proxy: ForwardProxy;
  readonly isLate: boolean;
  /** With the last document; undefined where no server has answered with any. */
  readonly answer: Response | undefined;
  readonly options: RenderOptions;
}

function renderError(url: URL, error: unknown, { proxy, isLate, answer, options }: Circumstances): unknown {
  if (error instanceof ToolError) return error;
  const text = error instanceof Error ? error.message : "";
  const cannot = `Cannot render ${describeUrl(url)}`;
  const failed = (code: ToolErrorCode, what: string): ToolError =>
    new ToolError(code, `${cannot}: ${what}`, { cause: error });
  if (error instanceof BrowserMemoryError)
    return failed(ToolErrorCode.TooLarge, `${error.message}. Look for a simpler page.`);
  if (isLate && answer === undefined)
    return failed(
      ToolErrorCode.Unavailable,
      `the server, or the browser, did not answer within ${options.pageTimeoutMs} ms. Try again later.`,
    );
  if (isLate)
    return failed(
      ToolErrorCode.ExecutionFailed,
      `its scripts were not done within ${options.pageTimeoutMs} ms. Look for a simpler page.`,
    );
  const at = URL.parse(answer?.url() ?? "") ?? url;
  if (
    isDenied(proxy, url.href) ||
    isDenied(proxy, at.href) ||
    (/ERR_TUNNEL_CONNECTION_FAILED/.test(text) && proxy.denied.length > 0)
  )
    return denied(url);
  if (proxy.isOverLimit)
    return failed(
      ToolErrorCode.TooLarge,
      `it fetches more than ${options.maxTransferBytes} bytes. Look for a simpler page.`,
    );
  if (/Download is starting/.test(text)) return failed(ToolErrorCode.ExecutionFailed, "it is a download, not a page.");
  // The browser takes an error without a text, or one that asks for a login, for none.
  if (/net::ERR_/.test(text) && answer !== undefined && answer.status() >= 400)
    return statusError(describeUrl(at), answer.status(), undefined);
  if (/net::ERR_/.test(text))
    return failed(ToolErrorCode.Unavailable, `the browser could not reach it (${/net::ERR_[A-Z_]+/.exec(text)?.[0]}).`);
  if (/launch|executable|Cannot find (package|module)/i.test(text))
    return failed(
      ToolErrorCode.Unavailable,
      "the browser cannot be started here. The operator can find out why by rockbot doctor.",
    );
  return failed(ToolErrorCode.ExecutionFailed, "its browser ended, or the page cannot be read.");
}
