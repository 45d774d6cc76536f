import { temporaryFolder } from "@rockbot/testing";
import { type Browser, chromium, type Page } from "playwright-core";
import { runCli, startUp } from "../../packages/cli/src/test-cli.ts";
import { browserPath } from "./browser-path.ts";

type TabOptions = Parameters<Browser["newContext"]>[0];

/** A browser whose first tab is watched: `faults` has its errors, its dialogs, and what its policy refused. */
export async function openBrowser() {
  const browser = await chromium.launch({
    executablePath: browserPath as string,
    chromiumSandbox: process.getuid?.() !== 0, // root has none
  });
  const newTab = async (options?: TabOptions): Promise<Page> => (await browser.newContext(options)).newPage();
  const page = await newTab();
  const faults: string[] = [];
  page.on("pageerror", (error) => void faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  page.on("dialog", (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, faults, newTab, [Symbol.asyncDispose]: () => browser.close() };
}

/**
 * A running system, and a tab of its console whose operator is logged in.
 * @param env the settings of the system
 */
export async function openConsole(env: Readonly<Record<string, string>> = {}) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const up = started.use(await startUp({ folder: folder.path, env }));
  const { page, faults, newTab } = started.use(await openBrowser());
  const logIn = async (tab: Page): Promise<Page> => {
    const { stdout, stderr } = await runCli(["open", "--print"], { folder: folder.path });
    await tab.goto(/http:\S+#code=\S+/.exec(stdout)?.[0] ?? `no link: ${stderr}`);
    await tab.getByRole("heading", { name: "Now" }).waitFor();
    return tab;
  };
  await logIn(page);
  const call = (tool: string, args: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${up.url}/v1/tools/${encodeURIComponent(tool)}/invoke`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(args),
    });
  const parts = started.move();
  return {
    page: page as Page,
    /** What went wrong in the tab. */
    faults,
    goTo: (path: string, tab = page as Page) => tab.goto(`${up.url}/console/${path}`),
    /** A further tab that is logged in. */
    openTab: async (options: TabOptions) => logIn(await newTab(options)),
    call,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
