import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { temporaryFolder } from "@rockbot/testing";
import { chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCli, startUp } from "../../packages/cli/src/test-cli.ts";
import { axeFaults } from "./axe.ts";
import { browserPath } from "./browser-path.ts";

const why = browserPath === undefined ? "skipped, as this machine has no Chromium" : "in Chromium";
const PAGES = [
  "",
  "calls",
  "waiting",
  "tools",
  "tools/web_browse",
  "agents",
  "letters",
  "servers",
  "policy",
  "policy?caller=gateway",
];

describe.skipIf(browserPath === undefined)(`the console, ${why}`, () => {
  const started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  let up: Awaited<ReturnType<typeof startUp>>;
  let browser: Awaited<ReturnType<typeof chromium.launch>>;

  const link = async (): Promise<string> => {
    const { stdout, stderr } = await runCli(["open", "--print"], { folder: folder.path });
    return /http:\S+#code=\S+/.exec(stdout)?.[0] ?? `no link: ${stderr}`;
  };
  /** A tab that is logged in, and what went wrong in it: words in its console, errors, and what its policy refused. */
  const openTab = async (options: Parameters<typeof browser.newContext>[0] = {}) => {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => void faults.push(String(error)));
    page.on("console", (message) => {
      const isNotThere = message.text().includes("404"); // no MCP bridge runs here: the page says so
      if (message.type() === "error" && !isNotThere) faults.push(message.text());
    });
    await page.goto(await link());
    await page.getByRole("heading", { name: "Now" }).waitFor();
    return { page, context, faults, [Symbol.asyncDispose]: () => context.close() };
  };
  const goTo = (page: Page, path: string) => page.goto(`${up.url}/console/${path}`);
  const isLoginShown = (page: Page) => page.getByLabel("Operator's token").isVisible();

  beforeAll(async () => {
    up = started.use(await startUp({ folder: folder.path }));
    browser = await chromium.launch({
      executablePath: browserPath as string,
      chromiumSandbox: process.getuid?.() !== 0, // root has none
    });
    started.defer(() => browser.close());
    const call = (tool: string, args: object) =>
      fetch(`${up.url}/v1/tools/${tool}/invoke`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(args),
      });
    expect((await call("web_browse", { url: "http://127.0.0.1:9/" })).ok).toBe(false);
    for (let i = 0; i < 20; i++) expect((await call("html_to_text", { html: `<p>${i}` })).ok).toBe(true);
  });
  afterAll(() => started.disposeAsync());

  test("a link is good once; the address forgets its code; a tab that was not logged in has only the cookie, which opens nothing", async () => {
    const once = await link();
    const context = await browser.newContext();
    await using _ = { [Symbol.asyncDispose]: () => context.close() };
    const page = await context.newPage();
    await page.goto(once);
    await page.getByRole("heading", { name: "Now" }).waitFor();
    expect(page.url()).toBe(`${up.url}/console/`);
    await page.reload();
    await page.getByRole("heading", { name: "Now" }).waitFor();

    const other = await context.newPage();
    await goTo(other, "calls");
    await expect.poll(() => isLoginShown(other)).toBe(true);
    await other.goto("about:blank");
    await other.goto(once);
    await expect.poll(() => other.getByRole("alert").textContent()).toMatch(/code/);
    expect(await isLoginShown(other)).toBe(true);
  });

  test("a call that failed is found, and shows what happened to it, in three clicks from the start", async () => {
    await using tab = await openTab();
    const { page } = tab;
    await page.getByRole("link", { name: "Calls" }).click();
    await page
      .getByRole("link", { name: /web_browse/ })
      .first()
      .click();
    const steps = page.getByRole("list").filter({ hasText: "Asked" });
    await steps.waitFor();
    expect(await steps.textContent()).toMatch(/Asked: the caller made it[\s\S]*Failed: /);
    expect(tab.faults).toEqual([]);
  });

  test("a tool is tried with its progress and its end, and what it says is data", async () => {
    await using tab = await openTab();
    const { page } = tab;
    await goTo(page, "tools/execute_python_script");
    if (await page.getByText("No service offers a tool of this name now.").isVisible()) return;
    const script = "print('# <img src=x onerror=alert(1)> [here](javascript:alert(1)) <script>alert(1)</script>')";
    await page.getByRole("textbox", { name: "script*" }).fill(script);
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const asked = page.getByRole("alertdialog");
    await expect.poll(() => asked.textContent()).toMatch(/execute_python_script as gateway\?.*chooses the account/);
    await page.getByRole("button", { name: /^Yes, call/ }).click();
    await page.getByText("what happened").waitFor();
    expect(await page.locator("main img, main script, main a[href^=javascript]").count()).toBe(0);
    expect(tab.faults).toEqual([]);
  });

  test("a script that runs is found from the start page, cancelled, and is no longer listed", async () => {
    await using tab = await openTab();
    const { page } = tab;
    await goTo(page, "tools/execute_python_script");
    if (await page.getByText("No service offers a tool of this name now.").isVisible()) return;
    const script = "import time; time.sleep(50)";
    const ended = fetch(`${up.url}/v1/tools/execute_python_script/invoke`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ script, timeout_seconds: 55 }),
    }).then((answer) => answer.json());
    await page.getByRole("link", { name: "Now" }).click();
    await page.getByRole("link", { name: "1", exact: true }).click();
    const row = page.getByRole("link", { name: /execute_python_script.*accepted/ });
    await row.click();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    expect(await ended).toMatchObject({ code: "cancelled" });
    await page.goBack();
    await expect.poll(() => row.count()).toBe(0);
    expect(tab.faults).toEqual([]);
  });

  test("a dead letter that is replayed and kept says why", async () => {
    await using tab = await openTab();
    const { page } = tab;
    const letter = { kind: "parked", service: "web-tools", id: "l1", toolName: "web_browse", reason: "expired" };
    const answer = { code: "unavailable", message: "no instance takes it now" };
    const events = {
      list: [letter, { kind: "end" }],
      replay: [{ kind: "replayed", service: "web-tools", id: "l1", answer, isRemoved: false }, { kind: "end" }],
    };
    for (const [action, values] of Object.entries(events))
      await page.route(`**/operator/dlq/${action}*`, (route) =>
        route.fulfill({
          contentType: "text/event-stream",
          body: values.map((value) => `event: ${value.kind}\ndata: ${JSON.stringify(value)}\n\n`).join(""),
        }),
      );
    await page.getByRole("link", { name: "Dead letters" }).click();
    await page.getByRole("checkbox").waitFor();
    expect(await page.getByRole("row").last().textContent()).toMatch(/expired No service took it in time/);
    await page.getByRole("checkbox").click();
    await page.getByRole("button", { name: "Replay 1" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Replay 1" }).click();
    await page.getByText("0 removed, 1 kept.").waitFor();
    expect(await page.getByText(/l1: unavailable/).textContent()).toContain("no instance takes it now");
  });

  test("the page of the policy has all tools of a caller, all callers of a tool, and ends an explanation in words", async () => {
    await using tab = await openTab();
    const { page } = tab;
    await page.getByRole("link", { name: "Policy" }).click();
    await page.getByLabel("may this caller").fill("gateway");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText("This holds for each tool that it may use").waitFor();
    await page.getByRole("listitem").filter({ hasText: "calls at once of all tools" }).waitFor();
    await page.getByRole("row").filter({ hasText: "html_to_text" }).getByText("allowed", { exact: true }).waitFor();
    await page.getByRole("link", { name: "html_to_text" }).click();
    await page.getByText("gateway may use html_to_text").waitFor();
    await page.getByText("So such a call runs.").waitFor();
    await page.getByLabel("may this caller").fill("");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText("everyone else may use html_to_text").waitFor(); // this policy names no caller
    expect(new URL(page.url()).search).toBe("?tool=html_to_text");
    await goTo(page, "policy?caller=nobody&tool=mcp_register_server");
    await page.getByText("with the code denied, before the tool runs").waitFor();
    expect(tab.faults).toEqual([]);
  });

  test("another policy is tried against the calls that were made", async () => {
    await using tab = await openTab();
    const { page } = tab;
    await page.getByRole("link", { name: "Policy" }).click();
    await page.getByLabel(/What would this policy have said/).fill("everyone: { allow: [html_to_text] }");
    await page.getByRole("button", { name: "Try it" }).click();
    const row = page.getByRole("row").filter({ hasText: "web_browse" });
    await row.first().waitFor();
    expect(await row.first().textContent()).toMatch(/allowed.*denied.*nothing in everyone\.allow/);
    expect(tab.faults).toEqual([]);
  });

  test("keys alone lead to a page, and back to what was looked at", async () => {
    await using tab = await openTab();
    await tab.page.keyboard.press("Control+k");
    await tab.page.keyboard.type("dead l");
    await tab.page.keyboard.press("Enter");
    await tab.page.getByRole("heading", { name: "Dead letters" }).waitFor();
    await tab.page.goBack();
    await tab.page.getByRole("heading", { name: "Now" }).waitFor();
  });

  test.each(["light", "dark"] as const)("every page is fine by axe, %s", { timeout: 120_000 }, async (colorScheme) => {
    await using tab = await openTab({ colorScheme, bypassCSP: true }); // only the test's own script needs that
    const found: string[] = [];
    for (const path of PAGES) {
      await goTo(tab.page, path);
      await tab.page.getByRole("heading", { level: 1 }).waitFor();
      await expect.poll(() => tab.page.getByText("Loading…").count()).toBe(0);
      found.push(...(await axeFaults(tab.page)));
    }
    expect(found).toEqual([]);
  });

  const folderOfPictures = process.env["ROCKBOT_PICTURES"]; // where it makes the picture of the docs
  const pictureMinutes = folderOfPictures === undefined ? 0 : 3;

  test("the start page draws the last hour", { timeout: 60_000 * (pictureMinutes + 1) }, async () => {
    await using tab = await openTab({ viewport: { width: 1200, height: 860 } });
    await makeCallsFor(pictureMinutes, up.url);
    await tab.page.locator("canvas").first().waitFor();
    expect(await tab.page.getByLabel("Calls of the last hour").textContent()).toMatch(/ended in the last hour/);
    expect(
      await tab.page.getByRole("link", { name: /invalid_arguments|execution_failed|denied/ }).count(),
    ).toBeGreaterThan(0);
    if (folderOfPictures !== undefined) await tab.page.screenshot({ path: join(folderOfPictures, "console.png") });
  });

  test("no page is wider than a phone", async () => {
    await using tab = await openTab({ viewport: { width: 360, height: 740 } });
    for (const path of PAGES) {
      await goTo(tab.page, path);
      await tab.page.getByRole("heading", { level: 1 }).waitFor();
      expect([path, await tab.page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, 360]);
    }
    expect(tab.faults).toEqual([]);
  });

  test("a page says when its gateway is away, and keeps what it has seen", async () => {
    using own = temporaryFolder();
    const other = await startUp({ folder: own.path });
    await using _ = other;
    const { stdout } = await runCli(["open", "--print"], { folder: own.path });
    const context = await browser.newContext();
    await using __ = { [Symbol.asyncDispose]: () => context.close() };
    const page = await context.newPage();
    await page.goto(/http:\S+#code=\S+/.exec(stdout)?.[0] ?? "");
    await page.getByText("ready", { exact: true }).first().waitFor();
    other.kill("SIGKILL");
    await page.getByText("The gateway does not answer").waitFor();
    expect(await page.getByText("ready", { exact: true }).count()).toBeGreaterThan(0);
  });
});

/** Gives the charts something to show: calls of several tools, now more and now fewer, some of which fail. */
async function makeCallsFor(minutes: number, url: string): Promise<void> {
  const end = performance.now() + minutes * 60_000;
  for (let i = 0; performance.now() < end; i++) {
    const [tool, args] =
      i % 20 === 0
        ? ["execute_python_script", { script: "print(sum(range(100000)))" }]
        : i % 27 === 0
          ? ["web_browse", { url: "http://127.0.0.1:9/" }]
          : ["html_to_text", { html: `<p>A page</p>`.repeat(1 + (i % 400)) }];
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(args) };
    await (await fetch(`${url}/v1/tools/${tool}/invoke`, init)).arrayBuffer();
    await delay(100 + 250 * Math.abs(Math.sin(i / 60)));
  }
}
