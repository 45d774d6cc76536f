import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";

const WAIT = { timeout: 60_000 };

/** `npm run dev`, until the test is over. */
function startDev(folder: string, args: readonly string[]) {
  const env = {
    ...process.env,
    ROCKBOT_RUNTIME_DIR: join(folder, "run"),
    SHUTDOWN_GRACE_MS: "100",
    LOG_FORMAT: "json",
  };
  const child = spawn(process.execPath, [join(import.meta.dirname, "dev.ts"), ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  return {
    url: () => [...said.matchAll(/http:\/\/127\.0\.0\.1:\d+(?=,)/g)].at(-1)?.[0],
    starts: () => said.match(/^ready in \d+ ms/gm)?.length ?? 0,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** A page that never answers. */
async function startSilentPage() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: once(server, "request"),
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test("a change of the settings restarts the system, and a running call ends in words", {
  timeout: 180_000,
}, async () => {
  using folder = temporaryFolder();
  using page = await startSilentPage();
  const config = folder.write("rockbot.yaml", "gateway: { port: 0 }\n");
  await using dev = startDev(folder.path, [
    "--config",
    config,
    "--only",
    "web-tools,gateway",
    "--allow-address",
    page.address,
  ]);
  await expect.poll(dev.starts, WAIT).toBe(1);
  const [headers, body] = [{ "content-type": "application/json" }, JSON.stringify({ url: `http://${page.address}/` })];
  const call = fetch(`${dev.url()}/v1/tools/web_browse/invoke`, { method: "POST", headers, body });
  await page.asked;
  folder.write("rockbot.yaml", "gateway: { port: 0, callTimeoutMs: 1000 }\n");

  expect(await (await call).json()).toMatchObject({
    code: expect.stringMatching(/^[a-z_]+$/),
    message: expect.stringContaining("web_browse"),
  });
  await expect.poll(dev.starts, WAIT).toBe(2);
});
