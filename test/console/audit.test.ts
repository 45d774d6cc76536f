import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { temporaryFolder } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserPath } from "./browser-path.ts";
import { openConsole } from "./open-console.ts";

const why = browserPath === undefined ? "skipped, as this machine has no Chromium" : "in Chromium";
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const HOSTILE = "<img src=x onerror=alert(1)>";

describe.skipIf(browserPath === undefined)(`the page Audit, ${why}`, () => {
  const started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const file = `${folder.path}/audit.jsonl`;
  let system: Awaited<ReturnType<typeof openConsole>>;

  beforeAll(async () => {
    system = started.use(await openConsole({ AUDIT_FILE: file }));
    expect((await system.call("html_to_text", { html: "<p>text</p>" })).status).toBe(200);
    await (await system.call(HOSTILE, {})).text();
  }, 60_000);
  afterAll(() => started.disposeAsync());

  test("lines are found by tool, each as it stands, and the search is in the address", async () => {
    const { page, faults } = system;
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByRole("textbox", { name: "tool" }).fill("to_text");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const lines = page.getByRole("region", { name: "audit lines" });
    await expect.poll(() => lines.getByRole("button").allTextContents()).toEqual(["html_to_text"]);
    expect(page.url()).toContain("tool=to_text");
    await lines.getByRole("button", { name: "html_to_text" }).click();
    const { hash, toolCallId, arguments: args } = JSON.parse((await lines.locator("pre").textContent()) ?? "");
    expect(readFileSync(file, "utf8")).toContain(hash);
    expect(args).toMatch(/^hmac-sha256:/);
    await lines.getByRole("link", { name: "The call" }).click();
    await page.getByText(toolCallId).first().waitFor();
    expect(faults).toEqual([]);
  });

  test("text of strangers is text, and a search is found among the lines", async () => {
    const { page, faults } = system;
    await system.goTo("audit");
    const lines = page.getByRole("region", { name: "audit lines" });
    await lines.getByRole("button", { name: HOSTILE }).first().click();
    await lines.getByRole("button", { name: "audit.search" }).first().waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test.each(["light", "dark"] as const)("it is fine by axe and on a phone, %s", async (colorScheme) => {
    const page = await system.openTab({ colorScheme, bypassCSP: true, viewport: { width: 360, height: 740 } }); // for axe's script
    await system.goTo("audit", page);
    await page.getByRole("region", { name: "audit lines" }).getByRole("button").first().click();
    await page.getByText("checked").first().waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    await page.evaluate(axe);
    const { violations } = (await page.evaluate("axe.run()")) as { violations: { impact: string; id: string }[] };
    expect(violations.filter(({ impact }) => impact === "serious" || impact === "critical")).toEqual([]);
    await page.context().close();
  });

  test("a chain that was changed shows as broken, with the place", async () => {
    const { page } = system;
    await system.goTo("audit");
    const logs = page.getByRole("region", { name: "audit logs" });
    await logs.getByText("whole").waitFor();
    writeFileSync(file, readFileSync(file, "utf8").replace("html_to_text", "html_to_tex7"));
    await logs.getByRole("button", { name: "Check again" }).click();
    await logs.getByText("broken").waitFor();
    await logs.getByText(/After line \d+: its text does not match its hash/).waitFor();
  });

  test("without an audit log the page says what to set", { timeout: 60_000 }, async () => {
    await using plain = await openConsole();
    await plain.goTo("audit");
    await plain.page.getByText("Start with --audit FILE, or set AUDIT_FILE").first().waitFor();
    expect(plain.faults).toEqual([]);
  });
});
