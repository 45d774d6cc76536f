import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "./axe.ts";
import { browserPath } from "./browser-path.ts";
import { openConsole } from "./open-console.ts";

const why = browserPath === undefined ? "skipped, as this machine has no Chromium" : "in Chromium";
const HOSTILE = "<img src=x onerror=alert(1)>";
const MANY = 10_000;
const AT_ONCE = 50;

describe.skipIf(browserPath === undefined)(`the pages of calls, ${why}`, { timeout: 180_000 }, () => {
  let system: Awaited<ReturnType<typeof openConsole>>;
  const rows = () => system.page.locator(".call-row");
  const look = async (path: string) => {
    await system.goTo(path);
    await system.page.getByRole("heading", { level: 1 }).waitFor();
    await expect.poll(() => system.page.getByText("Loading…").count()).toBe(0);
  };

  beforeAll(async () => {
    system = await openConsole();
    const answer = await system.call("html_to_text", { html: `<p>the oldest ${HOSTILE}` });
    expect(answer.ok).toBe(true);
    await system.call(HOSTILE, { text: "</script><b>bold</b>" });
    let left = MANY;
    const callOn = async () => {
      while (left-- > 0) await (await system.call("no_such_tool", {})).arrayBuffer();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, callOn));
  }, 300_000);
  afterAll(() => system[Symbol.asyncDispose]());

  test("10 000 calls are scrolled through, of which few are drawn, and the oldest is found by a search", async () => {
    const { page } = system;
    await look("calls");
    await rows().first().waitFor();
    const list = page.locator(".rows");
    await expect
      .poll(
        async () => {
          await list.evaluate((place) => place.scrollTo(0, (place as { scrollHeight: number }).scrollHeight));
          return Number(/\d+/.exec((await list.getAttribute("aria-label")) ?? "")?.[0]);
        },
        { timeout: 120_000, interval: 200 },
      )
      .toBe(MANY);
    expect(await rows().count()).toBeLessThan(100);
    expect(await page.getByText("Narrow the search for others").count()).toBe(1);

    await page.getByLabel("tool", { exact: true }).fill("html_to");
    await expect.poll(() => rows().allTextContents()).toEqual([expect.stringContaining("html_to_text")]);
    expect(page.url()).toContain("tool=html_to");
    await rows().first().click();
    await page.getByText("Started: the tool runs").waitFor();
    await page.goBack();
    await expect.poll(() => rows().count()).toBe(1);
  });

  test("a call shows its steps, who answered, and what it was given and gave, as text", async () => {
    const { page, faults } = system;
    await look("calls?tool=html_to_text");
    await rows().first().click();
    const steps = await page.getByRole("list").filter({ hasText: "Asked" }).textContent();
    expect(steps).toMatch(/Asked[\s\S]*Accepted[\s\S]*Admitted[\s\S]*Started[\s\S]*Answered/);
    await page.getByText("The tool ran.").waitFor();
    await page.getByRole("heading", { name: "Arguments" }).waitFor();
    await expect.poll(() => page.locator("main").textContent()).toContain(`the oldest ${HOSTILE}`);
    expect(await page.locator("main img").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("a hostile name is data in the list, on the call's page and in its commands", async () => {
    const { page, faults } = system;
    await look(`calls?${new URLSearchParams({ tool: "<img" })}`);
    await expect.poll(() => rows().allTextContents()).toEqual([expect.stringContaining(HOSTILE)]);
    await rows().first().click();
    await page.getByText(/^It ended in the caller's process|did not run the tool/).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("a call is made again, once that is confirmed, and the new one is named", async () => {
    const { page } = system;
    await look("calls?tool=html_to_text");
    await rows().last().click();
    await page.getByRole("button", { name: "Call again" }).click();
    await page.getByRole("button", { name: /^Yes, call/ }).click();
    await page.getByRole("link", { name: "what happened" }).click();
    await page.getByText("The tool ran.").waitFor();
    expect(await page.getByText("made by the operator").count()).toBe(1);
  });

  test("a failed call begins with its code and the words of its error, and what the operator may not do names the right", async () => {
    const { page, faults } = system;
    await page.route("**/operator/me", async (route) => {
      const response = await route.fetch();
      const me = (await response.json()) as { operator: { may: string[] } };
      await route.fulfill({ response, json: { ...me, operator: { ...me.operator, may: ["read"] } } });
    });
    await page.route("**/operator/calls/open-one", (route) => {
      const steps = [{ step: "asked", at: Date.now() }];
      const call = { toolCallId: "open-one", toolName: "t", caller: "c", state: "asked", attempts: 1, steps };
      return route.fulfill({ json: { call: { ...call, deadlineAt: Date.now() }, inner: [], isWhole: true } });
    });
    const none = { state: "not-kept" };
    await page.route("**/operator/calls/open-one/kept", (route) =>
      route.fulfill({ json: { arguments: none, result: none } }),
    );
    await look("calls/open-one");
    expect(await page.getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true);
    await page.getByText("the right “cancel” is missing").waitFor();

    await look("calls?code=tool_not_found");
    await rows().first().click();
    const failure = page.getByRole("region", { name: "Why it failed" });
    await expect.poll(() => failure.textContent()).toMatch(/^tool_not_found: .*no_such_tool/);
    expect(await page.getByRole("button", { name: "Call again" }).isDisabled()).toBe(true);
    await page.getByText("the right “call” is missing").waitFor();
    await page.unrouteAll();
    expect(faults).toEqual([]);
  });

  test("a button narrows the calls to those of the last quarter of an hour, hour or day", async () => {
    const { page } = system;
    await look("calls?tool=html_to&before=1000");
    expect(await rows().count()).toBe(0);
    await page.getByRole("button", { name: "15 min" }).click();
    await rows().first().waitFor();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get("tool"), searchParams.has("before")]).toEqual(["html_to", false]);
    expect(Number(searchParams.get("after"))).toBeLessThan(Date.now() - 14 * 60_000);
  });

  test.each(["light", "dark"] as const)(
    "the page of one call is fine by axe and on a phone, %s",
    async (colorScheme) => {
      const page = await system.openTab({ colorScheme, bypassCSP: true, viewport: { width: 360, height: 740 } });
      await system.goTo("calls?tool=html_to_text", page);
      await page.locator(".call-row").last().click();
      await page.getByText("The tool ran.").waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await system.goTo("calls?code=tool_not_found", page);
      await page.locator(".call-row").first().click();
      await page.getByRole("region", { name: "Why it failed" }).waitFor();
      expect(await axeFaults(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
      await page.context().close();
    },
  );

  test("an id that nobody knows, a search without a find and a phone's width are no trouble", async () => {
    const { page } = system;
    await look("calls/no-such-call");
    await page.getByText("No journal that this gateway reads has this call").waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of ["calls?session=none", "calls", "calls/no-such-call"]) {
      await look(path);
      expect([path, await page.evaluate("document.documentElement.scrollWidth")]).toEqual([path, 360]);
    }
    await look("calls?session=none");
    await page.getByText(/None of the newest calls|No call of the last day/).waitFor();
  });
});
