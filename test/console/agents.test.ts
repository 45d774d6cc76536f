import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ModelServer, startModelServer, temporaryFolder } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "./axe.ts";
import { browserPath } from "./browser-path.ts";
import { openConsole } from "./open-console.ts";

const why = browserPath === undefined ? "skipped, as this machine has no Chromium" : "in Chromium";
const HOSTILE = "# Done\n\n<img src=x onerror=alert(1)> [here](javascript:alert(1)) and [there](https://example.com/)";

describe.skipIf(browserPath === undefined)(`the page of agents, ${why}`, { timeout: 60_000 }, () => {
  const started = new AsyncDisposableStack();
  let model: ModelServer;
  let system: Awaited<ReturnType<typeof openConsole>>;
  const say = async (text: string) => {
    await system.page.getByLabel("a message to the agent").fill(text);
    await system.page.getByRole("button", { name: "Send" }).click();
  };
  const turn = (index: number) => system.page.locator(".turns > li").nth(index);

  beforeAll(async () => {
    const folder = started.use(temporaryFolder());
    const behaviors = join(folder.path, "behaviors.json");
    await writeFile(
      behaviors,
      JSON.stringify({ "test-model": { contextTokens: 100_000, price: { input: 1_000, output: 1_000 } } }),
    );
    model = started.use(await startModelServer([]));
    system = started.use(
      await openConsole({
        MODEL_URL: model.url,
        MODEL: model.model,
        MODEL_API_KEY: model.apiKey,
        MODEL_BEHAVIORS: behaviors,
      }),
    );
    await system.goTo("agents");
  }, 120_000);
  afterAll(() => started.disposeAsync());

  test("a turn is seen as it runs: its calls with their pages, its text as data, its tokens and cost", async () => {
    const { page, faults } = system;
    model.play([
      { text: "Let me look.", toolCalls: [{ name: "html_to_text", arguments: { html: "<p>a page" } }] },
      { text: HOSTILE, usage: { inputTokens: 1_000, outputTokens: 500 } },
    ]);
    await say("What is on it?");
    const asked = page.getByRole("alertdialog");
    await expect.poll(() => asked.textContent()).toContain("agent__chat as gateway?");
    await page.getByRole("button", { name: /^Yes, call/ }).click();
    await turn(0).getByText("answered").waitFor();
    expect(await turn(0).textContent()).toMatch(/Let me look\.[\s\S]*html_to_text ok[\s\S]*\d+ tokens.*cost \d/);
    await turn(0).getByRole("heading", { name: "Done" }).waitFor();
    expect(await page.locator("main img, main a[href^=javascript]").count()).toBe(0);
    expect(await turn(0).getByRole("link", { name: /there/ }).textContent()).toBe("there (https://example.com/)");

    await turn(0).locator("summary").click();
    await turn(0).getByRole("link", { name: "the call" }).click();
    await page.getByText("Started: the tool runs").waitFor();
    await page.goBack();
    await turn(0).getByText("answered").waitFor();
    expect(faults).toEqual([]);
  });

  test("a turn is stopped, and a further one knows what was said", async () => {
    const { page } = system;
    await page.getByRole("button", { name: "New conversation" }).click();
    model.play([{ text: "The first." }, { text: "A very long answer.", delayMs: 30_000 }, { text: "The last." }]);
    await say("One");
    await page.getByRole("button", { name: /^Yes, call/ }).click();
    await turn(0).getByText("The first.").waitFor();
    await say("Two");
    await page.getByRole("button", { name: "Stop" }).click();
    await turn(1).getByText("Stopped: the turn was cancelled.").waitFor();
    await say("Three");
    await turn(2).getByText("The last.").waitFor();
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/One[\s\S]*The first\.[\s\S]*Three/);
  });

  test("the schedules, skills and robots of the caller are listed, with the last answers, and their texts are data", async () => {
    const { page, faults } = system;
    model.play(() => ({ text: "The kettle is <b>hot</b>." }));
    const kettle = { name: "kettle", cron: "* * * * * *", description: "Look at the kettle.", run_once: true };
    expect(await (await system.call("schedule_task", kettle)).json()).toMatchObject({ isError: false });
    const task = { name: "weekly", cron: "0 9 * * 1", description: "Say <b>hello</b>." };
    expect(await (await system.call("schedule_task", task)).json()).toMatchObject({
      toolName: "schedule_task",
      isError: false,
    });
    const skill = { name: "greeting", content: "How <i>to greet</i>.\n\nSay hello." };
    expect(await (await system.call("save_skill", skill)).json()).toMatchObject({
      toolName: "save_skill",
      isError: false,
    });
    const list = (name: string) => page.getByRole("region", { name });
    const lookAgain = (name: string) => list(name).getByRole("button", { name: "Look again" }).click();
    for (const name of ["Skills", "Robots"]) await lookAgain(name);
    const rowOf = (name: string, of = "") => list(name).getByRole("row").filter({ hasText: of }).last();
    const answer = async () => {
      await lookAgain("Scheduled tasks");
      return rowOf("Scheduled tasks", "kettle")
        .locator("pre")
        .textContent({ timeout: 1_000 })
        .catch(() => "");
    };
    await expect.poll(answer, { timeout: 20_000, interval: 200 }).toBe("The kettle is <b>hot</b>.");
    await expect
      .poll(() => rowOf("Scheduled tasks", "weekly").textContent())
      .toMatch(/weekly0 9 \* \* 1 .*none.*<b>hello<\/b>/);
    expect(await rowOf("Scheduled tasks", "weekly").locator("time").count()).toBe(1);
    await expect.poll(() => rowOf("Skills").textContent()).toMatch(/greeting, version 1its own.*<i>to greet<\/i>/);
    await list("Robots").getByText("There are no robots.").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("what a model fails with is said, and a phone shows all of it", async () => {
    const { page } = system;
    await page.setViewportSize({ width: 360, height: 740 });
    model.play([{ status: 401, error: { message: "no such key" } }]);
    await say("Four");
    await expect
      .poll(() => turn(3).getByRole("alert").allTextContents())
      .toEqual([expect.stringMatching(/^Cannot answer/)]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
  });

  const begin = async (text: string, robot = "") => {
    const { page } = system;
    const anew = page.getByRole("button", { name: "New conversation" });
    if (await anew.isVisible()) await anew.click();
    await page.getByLabel("to the robot").fill(robot);
    await say(text);
    await page.getByRole("button", { name: /^Yes, call/ }).click();
  };

  test("a conversation is there after a reload, which ends a turn that runs, and is gone after a logout", async () => {
    const { page, faults } = system;
    faults.splice(0); // the browser tells of the model's error
    await page.setViewportSize({ width: 1280, height: 800 });
    model.play([{ text: "The first." }, { text: "A very long answer.", delayMs: 30_000 }, { text: "The last." }]);
    await begin("One");
    await turn(0).getByText("The first.").waitFor();
    await say("Two");
    await turn(1).getByText("the agent works").waitFor();
    await expect.poll(() => model.requests.at(-1)?.messages.at(-1)?.text).toBe("Two");
    await page.reload();
    await turn(0).getByText("The first.").waitFor();
    await turn(1).getByText("The page was loaded anew while this turn ran").waitFor();
    await say("Three");
    await turn(2).getByText("The last.").waitFor();
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/One[\s\S]*The first\.[\s\S]*Three/);

    const other = await system.openTab({});
    await system.goTo("agents", other);
    await other.getByLabel("a message to the agent").fill("Secret");
    model.play([{ text: "Kept." }]);
    await other.getByRole("button", { name: "Send" }).click();
    await other.getByRole("button", { name: /^Yes, call/ }).click();
    await other.locator(".turns").getByText("answered", { exact: true }).waitFor();
    expect(await other.evaluate("JSON.stringify(sessionStorage)")).toContain("Secret");
    await other.getByRole("button", { name: "Log out" }).click();
    await other.getByLabel("Operator's token").waitFor();
    expect(await other.evaluate("JSON.stringify(sessionStorage)")).toBe("{}");
    await other.close();
  });

  test("the calls of other agents stand below theirs as a tree while they run, and a robot's question has a box for the answer", async () => {
    const { page, faults } = system;
    const robot = async (name: string, tools: readonly string[]) => {
      const made = await system.call("robot_create", { name, playbook: `You are ${name}.`, tools });
      expect(await made.json()).toMatchObject({ isError: false });
    };
    await robot("clerk", ["html_to_text"]);
    await robot("guide", []);
    const held = Promise.withResolvers<void>();
    const report = (status: string, content: string) => ({
      toolCalls: [{ name: "agent__final_report", arguments: { status, format: "text", content } }],
    });
    model.play(async ({ messages }) => {
      const isClerk = messages[0]?.text.includes("You are clerk.") === true;
      const calls = messages.filter(({ role }) => role === "tool").length;
      if (!isClerk)
        return calls === 0
          ? { toolCalls: [{ name: "agent__clerk", arguments: { prompt: "Read it." } }] }
          : { text: "All read." };
      if (calls === 0) return { toolCalls: [{ name: "html_to_text", arguments: { html: "<b>a page</b>" } }] };
      await held.promise;
      return report("success", "It is a page.");
    });
    await begin("Read it.");
    const tree = page.getByRole("list", { name: "Calls of agent__clerk" });
    await tree.getByText(/html_to_text/).waitFor();
    await tree.getByText("ok", { exact: true }).waitFor();
    expect(await turn(0).textContent()).toContain("the agent works");
    held.resolve();
    await turn(0).getByText("answered", { exact: true }).waitFor();
    expect(await tree.getByText("agent__final_report").count()).toBe(1);

    model.play(({ messages }) =>
      messages.at(-1)?.text.includes("Berlin")
        ? report("success", "Go to the tower.")
        : report("input-required", "Which <i>city</i>?"),
    );
    await begin("Show me a town.", "guide");
    await turn(0).getByText("asks you").waitFor();
    expect(await turn(0).textContent()).toContain("Which <i>city</i>?");
    await page.getByLabel("your answer").fill("Berlin");
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "Answer", exact: true }).click();
    await turn(1).getByText("Go to the tower.", { exact: true }).waitFor();
    expect(await page.getByLabel("your answer").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("sessions, a transcript with its tree, and working memory are read when asked for, and their texts are data", async () => {
    const { page, faults } = system;
    const hostile = `<img src=x onerror=alert(1)> \u202etxt ${"y".repeat(16_000)}`;
    model.play(({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? { text: HOSTILE }
        : { toolCalls: [{ name: "save_to_working_memory", arguments: { key: "notes", data: hostile } }] },
    );
    const asked = await system.call("agent__chat", { message: hostile, session_id: "<b>notes</b>" });
    expect(await asked.json()).toMatchObject({ isError: false });
    await system.goTo("agents");

    const sessions = page.getByRole("region", { name: "Sessions" });
    await sessions.getByText("The audit log gets a line for each reading.").waitFor();
    await sessions.getByRole("button", { name: "Read" }).click();
    await sessions.getByRole("button", { name: "<b>notes</b>" }).click();
    const session = page.getByRole("region", { name: "The session <b>notes</b>" });
    await session.getByText("What it led to").waitFor();
    const texts = (await session.locator("pre").allTextContents()) as [string, string];
    expect(texts[0]).toMatch(/^<img src=x onerror=alert\(1\)> \\u\{202e\}txt y+$/);
    expect(texts[1]).toBe(HOSTILE);
    await session.getByText(`the beginning of ${hostile.length} characters`).waitFor();
    expect(await session.locator(".tree").textContent()).toMatch(/agent stop.*1 call /);

    const memory = page.getByRole("region", { name: "Working memory" });
    await memory.getByRole("button", { name: "Read" }).click();
    await memory.getByRole("button", { name: /notes$/ }).click();
    const text = memory.locator("pre");
    await expect.poll(() => text.textContent()).toMatch(/^<img src=x/);
    await memory.getByRole("button", { name: "Read on" }).click();
    await expect.poll(async () => (await text.textContent())?.replace("\\u{202e}", "\u202e")).toBe(hostile);
    expect(await page.locator("main img").count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    expect(faults).toEqual([]);
  });
});
