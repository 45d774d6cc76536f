import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort, type NodeProgram, startOwnBroker, temporaryFolder } from "@rockbot/testing";
import { chromium, type Page } from "playwright-core";
import { startEchoService, startService } from "../services/start-service.ts";
import { browserPath } from "./browser-path.ts";

const TOKEN = "of-ops";
const POLICY = `
callers: { gateway: { allow: [echo] } }
operators: [{ name: ops, tokens: [{ hash: "sha256:${createHash("sha256").update(TOKEN).digest("hex")}" }] }]
`;
export type ConsoleWorld = Awaited<ReturnType<typeof startConsoleWorld>>;

/** A broker, a gateway with an operator, and a service with a tool, each a process; and a browser to look with. */
export async function startConsoleWorld() {
  if (browserPath === undefined) throw new Error("Cannot look at the console: install Chromium, such as Debian's");
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const policyFile = join(folder.path, "policy.yaml");
  await writeFile(policyFile, POLICY);
  const broker = started.use(await startOwnBroker());
  const port = String(await freePort());
  const env = { BUS_URL: broker.url, POLICY_FILE: policyFile, PORT: port, HEALTH_PORT: "0" };
  const gateway = started.use(await startService("gateway", env));
  const browser = await chromium.launch({
    executablePath: browserPath,
    chromiumSandbox: process.getuid?.() !== 0, // root has none
  });
  started.defer(() => browser.close());
  const url = `http://127.0.0.1:${port}`;
  const parts = started.move();
  return {
    url,
    gateway,
    browser,
    startService: (): Promise<NodeProgram> => startEchoService(broker.url),
    /** Calls the tool once. */
    async call(): Promise<void> {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"id":"x"}' };
      const answer = await fetch(`${url}/v1/tools/echo/invoke`, init);
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`A call ended with the status ${answer.status}`);
    },
    /** A tab that is logged in, at the start page. */
    async openTab(): Promise<Page> {
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${url}/console/`);
      await page.getByLabel("Operator's token").fill(TOKEN);
      await page.getByRole("button", { name: "Open the console" }).click();
      await page.getByRole("heading", { name: "Now" }).waitFor();
      return page;
    },
    /**
     * Follows the stream and reads all of it, until aborted.
     * @returns how many states came
     * @throws {Error} if the stream does not last
     */
    async follow(signal: AbortSignal): Promise<number> {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const { status, body } = await fetch(`${url}/operator/stream`, { headers, signal });
      let states = 0;
      try {
        for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? [])
          states += part.split("event: overview\n").length - 1;
      } catch (error) {
        if (!signal.aborted) throw error;
        return states;
      }
      throw new Error(`The stream of a viewer ended with the status ${status}`);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
