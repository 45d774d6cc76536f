import { temporaryFolder } from "@rockbot/testing";
import { chromium, type Page } from "playwright-core";
import { runCli, startUp } from "../../packages/cli/src/test-cli.ts";
import { browserPath } from "./browser-path.ts";

/**
 * A running system, and a tab of its console whose operator is logged in.
 * @param env the settings of the system
 */
export async function openConsole(env: Readonly<Record<string, string>> = {}) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const up = started.use(await startUp({ folder: folder.path, env }));
  const browser = await chromium.launch({
    executablePath: browserPath as string,
    chromiumSandbox: process.getuid?.() !== 0, // root has none
  });
  started.defer(() => browser.close());
  const page = await (await browser.newContext()).newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => void faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  page.on("dialog", (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
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
    /** What went wrong in the tab: errors, and what its policy refused. */
    faults,
    goTo: (path: string, tab = page as Page) => tab.goto(`${up.url}/console/${path}`),
    /** A further tab that is logged in. */
    openTab: async (options: Parameters<typeof browser.newContext>[0]) =>
      logIn(await (await browser.newContext(options)).newPage()),
    call,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
