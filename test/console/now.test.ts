import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { ownVirtualHost, temporaryFolder } from "@rockbot/testing";
import { chromium } from "playwright-core";
import { expect, test } from "vitest";
import { startEchoService, startService } from "../services/start-service.ts";
import { browserPath } from "./browser-path.ts";

const TOKEN = "of-ops";
const POLICY = `
callers: { gateway: { allow: [echo] } }
operators: [{ name: ops, tokens: [{ hash: "sha256:${createHash("sha256").update(TOKEN).digest("hex")}" }] }]
`;

/** A port that nobody has now: the gateway comes back on the one that it had. */
async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

test.skipIf(browserPath === undefined)(
  "the start page shows calls and a killed service by itself, says when it is not live, and is live again after that",
  { timeout: 180_000 },
  async () => {
    using folder = temporaryFolder();
    const policyFile = join(folder.path, "policy.yaml");
    await writeFile(policyFile, POLICY);
    await using broker = await ownVirtualHost();
    const port = await freePort();
    const env = { BUS_URL: broker.url, POLICY_FILE: policyFile, PORT: port, HEALTH_PORT: "0" };
    await using service = await startEchoService(broker.url);
    const gateway = await startService("gateway", env);
    await using _gateway = gateway;
    const browser = await chromium.launch({
      executablePath: browserPath as string,
      chromiumSandbox: process.getuid?.() !== 0,
    });
    await using _browser = { [Symbol.asyncDispose]: () => browser.close() };
    const page = await browser.newPage();
    const asked: string[] = [];
    page.on("request", (request) => void asked.push(new URL(request.url()).pathname));
    await page.goto(`http://127.0.0.1:${port}/console/`);
    await page.getByLabel("Operator's token").fill(TOKEN);
    await page.getByRole("button", { name: "Open the console" }).click();
    const row = page.getByRole("row").filter({ hasText: "echo" });
    await row.getByText("ready").waitFor();
    expect(await page.getByText('"echo" is gone').count()).toBe(0);

    const call = { method: "POST", headers: { "content-type": "application/json" }, body: '{"id":"1"}' };
    for (let i = 0; i < 5; i++)
      expect((await fetch(`http://127.0.0.1:${port}/v1/tools/echo/invoke`, call)).status).toBe(200);
    await page.getByLabel("Calls of the last hour").getByText("5", { exact: true }).waitFor();
    await page.getByRole("button", { name: "echo" }).click();
    await page.getByRole("button", { name: "Show the day" }).click();
    await page.getByLabel("5 calls, of which 0 failed, by the minute").waitFor();

    service.kill("SIGKILL");
    await page.getByText('"echo" is gone').waitFor();
    await row.getByText("gone").waitFor();
    expect(asked.filter((path) => path === "/operator/stream").length).toBe(1);
    expect(asked.filter((path) => path === "/operator/overview").length).toBeLessThan(3); // it does not poll

    gateway.kill("SIGKILL");
    await page.getByText("Not live, trying again.").waitFor();
    expect(await row.count()).toBe(1); // what was seen last stays
    await gateway.ended;
    await using _again = await startService("gateway", env);
    await using _service = await startEchoService(broker.url);
    await row.getByText("ready").waitFor();
    expect(await page.getByText("Not live, trying again.").count()).toBe(0);
  },
);
