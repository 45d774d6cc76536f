import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "./axe.ts";
import { browserPath } from "./browser-path.ts";
import { openConsole } from "./open-console.ts";

const why = browserPath === undefined ? "skipped, as this machine has no Chromium" : "in Chromium";
const HOSTILE = "<img src=x onerror=alert(1)> [here](javascript:alert(1))";
const address = { type: "object", required: ["street"], properties: { street: { type: "string" } } };
const flags = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`flag_${n}`, { type: "integer" }]));

/** Tools of which nothing is there but their definitions. */
const SCHEMAS: Readonly<Record<string, object>> = {
  big: {
    type: "object",
    required: ["text", "where", "to"],
    properties: {
      text: { type: "string", description: HOSTILE, title: HOSTILE, pattern: "^(a+)+$", default: `${"a".repeat(40)}!` },
      where: {
        oneOf: [
          { title: "by name", type: "object", required: ["name"], properties: { name: { type: "string" } } },
          { title: "by number", type: "object", required: ["number"], properties: { number: { type: "integer" } } },
        ],
      },
      to: { type: "array", items: { $ref: "#/$defs/address" } },
      kind: { enum: ["a", "b"] },
      isFast: { type: "boolean" },
      ...flags,
    },
    $defs: { address },
  },
  elsewhere: { type: "object", properties: { a: { $ref: "https://example.com/a.json" } } },
  tree: { $ref: "#/$defs/node", $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } } },
  loop: { $ref: "#" },
  none: { type: 7, properties: { a: { type: "strange", enum: 7 }, __proto__: null } },
};

describe.skipIf(browserPath === undefined)(`the page of a tool, ${why}`, () => {
  let system: Awaited<ReturnType<typeof openConsole>>;
  const sent: unknown[] = [];
  const look = async (tool: string) => {
    await system.goTo(`tools/${tool}`);
    await system.page.getByRole("heading", { name: "Try it" }).waitFor();
    await expect.poll(() => system.page.getByText("Loading…").count()).toBe(0);
  };
  const json = async () => {
    await system.page.getByRole("button", { name: "JSON", exact: true }).first().click();
    return JSON.parse(await system.page.getByLabel("arguments, as JSON").inputValue()) as unknown;
  };
  const form = () => system.page.getByRole("button", { name: "form", exact: true });

  beforeAll(async () => {
    system = await openConsole();
    const { page } = system;
    await page.route("**/operator/tools", (route) => {
      const tools = Object.entries(SCHEMAS).map(([name, inputSchema]) => {
        return { name, inputSchema, description: "Of the test.", readOnly: true };
      });
      return route.fulfill({ json: { tools } });
    });
    await page.route("**/operator/tools/*/guides", (route) => {
      const document = `# How to\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n${HOSTILE}<script>alert(1)</script>`;
      const guide = { name: "test", summary: "How to test.", document, trust: "untrusted" };
      return route.fulfill({ json: { guides: [guide] } });
    });
    await page.route("**/operator/tools/*/invoke*", (route) => {
      sent.push(route.request().postDataJSON());
      const end = { code: "of_the_test", message: "It was sent." };
      return route.fulfill({
        contentType: "text/event-stream",
        body: `event: error\ndata: ${JSON.stringify(end)}\n\n`,
      });
    });
  });
  afterAll(() => system[Symbol.asyncDispose]());

  test("a form of 200 arguments with choices, references and lists and its JSON stay in step, and what is sent is what was typed", async () => {
    const { page, faults } = system;
    await look("big");
    await page.getByRole("textbox", { name: "text*" }).fill("two\nlines");
    await page.getByLabel("one of several forms").selectOption({ label: "by number" });
    await page.getByRole("spinbutton", { name: "number*" }).fill("12");
    await page.getByRole("button", { name: "Add", exact: true }).first().click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("The arguments do not fit the tool's schema").waitFor();
    const street = page.getByRole("textbox", { name: "street*" });
    expect(await street.getAttribute("aria-invalid")).toBe("true");
    const described = (await street.getAttribute("aria-describedby")) ?? "";
    const errors = described.split(" ").map((id) => page.locator(`[id="${id}"]`));
    expect((await Promise.all(errors.map((one) => one.allTextContents()))).flat()).toContain("It is missing.");
    await street.fill("Broad Street");
    await expect.poll(() => page.getByText("do not fit the tool's schema").count()).toBe(0);
    await page.getByText("optional arguments").click();
    await page.getByRole("spinbutton", { name: "flag_150" }).fill("3");
    await page.getByLabel("kind").selectOption("b");
    const expected = {
      text: "two\nlines",
      where: { number: 12 },
      to: [{ street: "Broad Street" }],
      kind: "b",
      flag_150: 3,
    };
    expect(await json()).toEqual(expected);

    await page
      .getByLabel("arguments, as JSON")
      .fill(JSON.stringify({ ...expected, text: "typed", isFast: true, more: 1 }));
    await form().click();
    await expect.poll(() => page.getByRole("textbox", { name: "text*" }).inputValue()).toBe("typed");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("It was sent.").waitFor();
    expect(sent.at(-1)).toEqual({ ...expected, text: "typed", isFast: true, more: 1 });
    expect(await page.locator("main img, main a[href^=javascript]").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("guides of a tool are drawn, and what strangers wrote in them loads and runs nothing", async () => {
    const { page, faults } = system;
    await look("big");
    const guide = page.locator("details").filter({ hasText: "How to test." });
    await guide.locator("summary").click();
    await guide.getByRole("heading", { name: "How to" }).waitFor();
    expect(await guide.textContent()).toContain("words of strangers");
    expect(await guide.getByRole("cell").allTextContents()).toEqual(["1", "2"]);
    expect(await guide.locator("img, script, a[href^=javascript]").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("a form is filled in by keys alone", async () => {
    const { page } = system;
    await look("big");
    await page.getByRole("textbox", { name: "text*" }).focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("by keys");
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.type("7");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await json()).toMatchObject({ text: "by keys", where: { number: 7 }, to: [{}] });
  });

  test("faulty arguments are sent if the operator wants to", async () => {
    const { page } = system;
    await look("big");
    await page.getByRole("button", { name: "Add", exact: true }).first().click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("button", { name: "Call all the same" }).click();
    await page.getByText("It was sent.").waitFor();
  });

  test.each(["elsewhere", "tree", "loop", "none"])(
    "the schema %s, which is odd, leaves a way to write arguments",
    async (tool) => {
      const { page } = system;
      await look(tool);
      await json();
      await page.getByLabel("arguments, as JSON").fill('{"a":1}');
      await page.getByRole("button", { name: "Call", exact: true }).click();
      const all = page.getByRole("button", { name: "Call all the same" });
      await all.or(page.getByText("It was sent.")).first().waitFor();
      if (await all.isVisible()) await all.click();
      await page.getByText("It was sent.").waitFor();
      expect(sent.at(-1)).toEqual({ a: 1 });
      if (tool === "elsewhere") await page.getByText("No form can be made of the tool's schema").waitFor();
    },
  );

  test("a form is fine by axe, and on a phone", async () => {
    const { page } = system;
    await look("big");
    await page.getByRole("button", { name: "Add", exact: true }).first().click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByRole("button", { name: "Call all the same" }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  });
});
