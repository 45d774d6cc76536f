import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { groupMemory, killGroup } from "./process-group.ts";

/** The program, and what confines it. */
export interface StartBrowserOptions {
  readonly browserPath: string;
  /** Chromium's own sandbox. */
  readonly browserSandbox: boolean;
  /** The proxy that all its connections go by. */
  readonly proxyUrl: string;
  readonly pageMemoryBytes: number;
  /** For its start, in milliseconds. */
  readonly timeoutMs: number;
}

/** A browser for one page. Disposal kills every process of it, and deletes its folder. */
export interface RunningBrowser extends AsyncDisposable {
  readonly browser: Browser;
  /** Never resolves; rejects once it has more memory than it may. */
  readonly tooLarge: Promise<never>;
}

export class BrowserMemoryError extends Error {
  override readonly name = "BrowserMemoryError";
}

const WATCH_MS = 300;
/** A browser that is asked to leave reaps its processes itself. */
const LEAVE_MS = 1_000;

/**
 * Whatever the page does, nothing leaves but by the proxy: no name is looked up here, WebRTC has no UDP, and loopback
 * addresses go by the proxy, too. A window needs a click, of which there is none.
 */
const FLAGS = [
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-quic",
  "--dns-prefetch-disable",
  "--no-pings",
  "--disable-domain-reliability",
  "--disable-remote-playback-api",
  "--disable-notifications",
  "--disable-speech-api",
  "--disable-webgl",
  "--disable-gpu",
  "--disable-crash-reporter",
  "--blink-settings=imagesEnabled=false",
  "--autoplay-policy=user-gesture-required",
  "--block-new-web-contents",
  "--renderer-process-limit=4",
  "--js-flags=--max-old-space-size=256",
];
/** Flags of the library for tests, which take away what holds pages back. */
const NOT_WANTED = [
  "--disable-popup-blocking",
  "--disable-ipc-flooding-protection",
  "--disable-hang-monitor",
  "--enable-unsafe-swiftshader",
  "--allow-pre-commit-input",
];

/** @throws {Error} of the library if the program cannot be started in time */
export async function startBrowser(options: StartBrowserOptions): Promise<RunningBrowser> {
  const { browserPath, browserSandbox, proxyUrl, pageMemoryBytes, timeoutMs } = options;
  const { chromium } = await import("playwright-core");
  await using started = new AsyncDisposableStack();
  const home = await mkdtemp(join(tmpdir(), "rockbot-browser-"));
  started.defer(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  const server = await chromium.launchServer({
    host: "127.0.0.1", // by default the library takes connections on every address
    executablePath: browserPath,
    headless: true,
    chromiumSandbox: browserSandbox,
    timeout: timeoutMs,
    proxy: { server: proxyUrl },
    args: FLAGS,
    ignoreDefaultArgs: NOT_WANTED,
    // Secrets of this process are not the browser's.
    env: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home },
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
  });
  const group = server.process().pid ?? 0;
  started.defer(async () => {
    const leaving = server.close().catch(() => {});
    await Promise.race([leaving, new Promise((resolve) => setTimeout(resolve, LEAVE_MS).unref())]);
    if (group > 0) killGroup(group);
    await server.kill().catch(() => {});
  });
  const watch = watchMemory(group, pageMemoryBytes);
  started.defer(() => watch.stop());
  const browser = await chromium.connect(server.wsEndpoint(), { timeout: timeoutMs });
  const running = started.move();
  return { browser, tooLarge: watch.tooLarge, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function watchMemory(group: number, most: number): { readonly tooLarge: Promise<never>; stop(): void } {
  const { promise: tooLarge, reject } = Promise.withResolvers<never>();
  tooLarge.catch(() => {}); // nobody may wait for it
  const timer = setInterval(async () => {
    const bytes = await groupMemory(group);
    if (bytes === undefined || bytes <= most) return;
    killGroup(group); // at once: what waits for it comes later
    reject(new BrowserMemoryError(`its browser needs more than ${most} bytes of memory`));
  }, WATCH_MS);
  timer.unref();
  return { tooLarge, stop: () => clearInterval(timer) };
}
