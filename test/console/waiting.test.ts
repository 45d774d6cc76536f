import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startWaiting } from "../../services/gateway/src/waiting/test-waiting.ts";
import { axeFaults } from "./axe.ts";
import { browserPath } from "./browser-path.ts";
import { openBrowser } from "./open-console.ts";

const why = browserPath === undefined ? "skipped, as this machine has no Chromium" : "in Chromium";
const HOSTILE = {
  html: "<img src=x onerror=alert(1)> [here](javascript:alert(1))",
  to: "bob\u202egro.live@\u200bx",
  number: "1",
  long: "x".repeat(20_000),
};

describe.skipIf(browserPath === undefined)(`the page Waiting, ${why}`, () => {
  const started = new AsyncDisposableStack();
  let mail: Awaited<ReturnType<typeof startWaiting>>;
  let browser: Awaited<ReturnType<typeof openBrowser>>;
  let page: Page;

  /** A tab of bob, whom the policy asks, or of the operator who has started the process. */
  const logIn = async (tab: Page, who: "bob" | "local"): Promise<Page> => {
    const code = who === "local" ? `#code=${mail.localOperator.codes.create()}` : "";
    await tab.goto(`${mail.url}/console/${code}`);
    if (who === "bob") {
      await tab.getByLabel("Operator's token").fill("bob");
      await tab.getByRole("button", { name: "Open the console" }).click();
    }
    await tab.getByRole("heading", { name: "Now" }).waitFor();
    return tab;
  };
  const goTo = (path: string, tab = page) => tab.goto(`${mail.url}/console/${path}`);
  const end = (call: Promise<unknown>) => call.catch((error: unknown) => error);
  const confirmed = async (verdict: "Approve" | "Reject", tab = page) => {
    await tab.getByRole("button", { name: verdict, exact: true }).click();
    await tab
      .getByRole("alertdialog")
      .getByRole("heading", { name: `${verdict} send for ada?` })
      .waitFor();
    await tab.getByRole("button", { name: `Yes, ${verdict.toLowerCase()}` }).click();
  };

  beforeAll(async () => {
    mail = started.use(await startWaiting());
    browser = started.use(await openBrowser());
    page = await logIn(browser.page, "bob");
  }, 60_000);
  beforeEach(() => {
    mail.done.length = 0;
  });
  afterAll(() => started.disposeAsync());

  test("a call with hostile arguments is seen as it is, approved after a question, and said to run", async () => {
    await goTo("waiting");
    await page.getByText("Nothing waits.").waitFor();
    const call = mail.caller.call("send", HOSTILE);
    const row = page.getByRole("row").filter({ hasText: "ann or bob or local" });
    expect(await row.textContent()).toMatch(/send approval.*ada.*none/);
    await expect.poll(() => page.getByRole("link", { name: /^Waiting/ }).textContent()).toBe("Waiting 1");
    await row.getByRole("link", { name: "send" }).click();

    const args = page.getByRole("region", { name: "Arguments" });
    await args.getByText("Each stands here as an escape").waitFor();
    const text = (await args.locator("pre").textContent()) ?? "";
    expect(text).toContain(HOSTILE.html);
    expect(text.length).toBe(6_000);
    expect(text).not.toMatch(/[\u202e\u200b]/);
    await args.getByText(/^\d+ of \d+ characters are folded\.$/).waitFor();
    await args.getByRole("button", { name: "Show all" }).click();
    expect(await args.locator("pre").textContent()).toContain('"to": "bob\\u202egro.live@\\u200bx"');
    expect(await page.locator("main img, main a[href^=javascript]").count()).toBe(0);

    await page.getByText("the service mail runs send once for ada, with exactly these arguments").waitFor();
    expect(mail.done).toEqual([]);
    await confirmed("Approve");
    await page.getByText("Approved: the service runs the call now.").waitFor();
    await call;
    expect(mail.done).toEqual(["send"]);
    await page.getByRole("link", { name: "what happened to the call" }).click();
    await page.getByRole("heading", { name: "Call", exact: true }).waitFor();
    expect(browser.faults).toEqual([]);
  });

  test("a rejected call tells its caller the note, and one that others have decided says so", async () => {
    const call = end(mail.caller.call("send", { to: "bob" }));
    const { id } = await mail.one("bob");
    await goTo("");
    await page.getByText(/^1 call waits for an operator/).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("send for ada");
    await page.getByRole("option", { name: `Waiting: send for ada (${id})` }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/waiting/${id}`);
    await page.getByLabel(/^note/).fill("Too early.");
    await confirmed("Reject");
    await page.getByText("Rejected: the call has ended").waitFor();
    expect(await call).toMatchObject({ code: "denied", message: expect.stringContaining("They say: Too early.") });

    const paid = mail.caller.call("pay", {});
    const one = await mail.one("bob");
    await goTo(`waiting/${one.id}`);
    await page.getByText("once all who are needed have approved").waitFor();
    await mail.decide("bob", one, "approve", { note: "<b>fine</b>" });
    await page.getByText('You cannot decide: "bob" has decided already.').waitFor();
    await page.getByText("<b>fine</b>").waitFor();
    await mail.decide("ann", one, "approve");
    await page.getByText("It does not wait any more").waitFor();
    await paid;
    await goTo(`waiting/${one.id}`);
    await page.getByText("Cannot find a call of this id that waits").waitFor();
    browser.faults.length = 0; // the browser names the status 404
  });

  test("a question is answered by a form, asked again with what is wrong, and answered as JSON", async () => {
    const call = mail.caller.call("order", { of: "<i>these</i>\u202e" });
    const { id } = await mail.one("bob");
    await goTo(`waiting/${id}`);
    const question = page.getByRole("region", { name: "The question" });
    await expect.poll(() => question.locator("pre").textContent()).toBe("How many of <i>these</i>\\u{202e}?");
    await question.getByText("These are words of a stranger, mcp:shop, who gets your answer.").waitFor();
    const answer = page.getByRole("region", { name: "Answer" });
    await answer.getByLabel("count*").fill("1000");
    await answer.getByRole("button", { name: "Send the answer" }).click();
    await answer.getByText("The answer does not fit the tool's schema").waitFor();
    const one = await mail.one("bob");
    await mail.answer("bob", one, { count: 1_000 });
    await question.getByText("The last answer did not fit").waitFor();
    await answer.getByRole("button", { name: "JSON", exact: true }).click();
    await answer.getByLabel("answer, as JSON").fill('{"count": 7}');
    await answer.getByRole("button", { name: "Send the answer" }).click();
    await page.getByText("Answered: the tool goes on.").waitFor();
    expect(await call).toMatchObject({ content: "ordered 7" });
    expect(browser.faults).toEqual([]);
  });

  test("the operator of the process types the code, and hears why it counts or not", async () => {
    const call = mail.caller.call("send", { to: "bob" });
    const { id } = await mail.one("bob");
    const tab = await logIn(await browser.newTab(), "local");
    await goTo(`waiting/${id}`, tab);
    await tab.getByText("You cannot decide: the operator of").waitFor();
    const code = mail.localOperator.decisionCode.show();
    await tab.getByRole("button", { name: "Approve", exact: true, disabled: true }).waitFor();
    await tab.getByLabel(/^code/).fill("0000-0000-00");
    await confirmed("Approve", tab);
    await tab.getByText("this is not the code").waitFor();
    expect(mail.done).toEqual([]);
    await tab.getByLabel(/^code/).fill(code.toLowerCase());
    await confirmed("Approve", tab);
    await tab.getByText("Approved: the service runs").waitFor();
    await call;
    await tab.context().close();
  });

  test.each(["light", "dark"] as const)("list and call are fine by axe and on a phone, %s", async (colorScheme) => {
    const calls = [mail.caller.call("send", HOSTILE), mail.caller.call("order", { of: "y".repeat(500) })].map(end);
    await expect.poll(async () => (await mail.waiting("bob")).calls.length).toBe(2);
    const { calls: waiting } = await mail.waiting("bob");
    const tab = await browser.newTab({ colorScheme, bypassCSP: true, viewport: { width: 360, height: 740 } }); // for axe's script
    await logIn(tab, "bob");
    for (const path of ["waiting", ...waiting.map(({ id }) => `waiting/${id}`)]) {
      await goTo(path, tab);
      await tab
        .getByText(path === "waiting" ? "who is asked" : "since", { exact: true })
        .first()
        .waitFor({ state: "attached" });
      await tab.getByText("Loading…").waitFor({ state: "detached" });
      expect([path, await tab.evaluate("document.documentElement.scrollWidth")]).toEqual([path, 360]);
      expect(await axeFaults(tab)).toEqual([]);
    }
    await tab.context().close();
    for (const one of waiting)
      await (one.kind === "question" ? mail.answer("bob", one, { count: 1 }) : mail.decide("bob", one, "reject"));
    await Promise.all(calls);
  });
});
