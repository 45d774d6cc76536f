import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runHere, startPage, startUp } from "../test-cli.ts";

test.each([
  ["no command", "dlq", /rockbot dlq list/],
  ["no messages", "dlq replay web-tools", /expected an id, or --all/],
  ["an id and all", "dlq replay web-tools x --all", /not both/],
  ["a purge that is not meant", "dlq purge web-tools --all", /--yes: missing/],
  [
    "a limit and a service that are none",
    "dlq list Web_Tools --limit 0",
    /the service: expected.*\n.*--limit: expected/,
  ],
  ["a time that is none", "dlq replay web-tools --all --timeout soon", /--timeout: expected/],
])("wrong usage of dlq is said on stderr with exit 2: %s", async (_, line, words) => {
  using folder = temporaryFolder();
  const { code, stdout, stderr } = await runHere(line.split(" "), { folder: folder.path });

  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(words);
});

test("with nothing running there is nothing to look at, which is said in words", async () => {
  using folder = temporaryFolder();
  expect(await runHere(["dlq", "list"], { folder: folder.path })).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/no "rockbot up" runs.*--bus/),
  });
});

test("the parked messages of a running up are for its user's socket, and for nobody else", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  await using page = await startPage();
  const config = join(folder.path, "rockbot.yaml");
  writeFileSync(config, "webTools: { concurrency: 1 }\n");
  await using up = await startUp(options, ["--config", config, "--allow-address", page.address]);
  const browse = (path: string, timeoutMs: number, signal: AbortSignal | null = null) =>
    fetch(`${up.url}/v1/tools/web_browse/invoke`, {
      method: "POST",
      headers: { "content-type": "application/json", "rockbot-timeout-ms": String(timeoutMs) },
      body: JSON.stringify({ url: page.url(path) }),
      signal,
    });
  const leave = new AbortController();
  // One runs and one waits for its turn: the service's two handlers are taken, and the next call waits in the queue.
  const busy = ["/slow", "/waiting"].map((path) => browse(path, 60_000, leave.signal).catch(() => "left"));
  await expect
    .poll(async () => (await runHere(["calls"], options)).stdout.match(/web_browse/g)?.length, { timeout: 20_000 })
    .toBe(2);
  expect((await browse("/late", 200)).status).toBe(504);
  leave.abort(); // their calls are cancelled, and the next one's turn comes too late
  expect(await Promise.all(busy)).toEqual(["left", "left"]);

  await expect
    .poll(async () => (await runHere(["dlq", "list", "web-tools"], options)).stdout, { timeout: 30_000 })
    .toContain("expired  web_browse");
  const { stdout } = await runHere(["dlq", "list", "--json"], options);
  const { id } = JSON.parse(stdout) as { id: string };
  const shown = await runHere(["dlq", "show", "web-tools", id], options);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^reason +expired$/m) });
  expect(shown.stdout).toContain("/late");
  expect(shown.stdout).toMatch(/^time limit +(1\d\d|200) ms$/m);
  // Its caller gave it up, and a call that was given up never starts.
  const replayed = await runHere(["dlq", "replay", "web-tools", id], options);
  expect(replayed).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/cancelled: .*1 answered and removed, 0 still parked/s),
  });
  expect(page.requests).not.toContain("/late");
  expect(await runHere(["dlq", "purge", "web-tools", id, "--yes"], options)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("No message"),
  });

  for (const path of ["/operator/dlq/list", "/operator/dlq/purge?service=web-tools", "/v1/../operator/dlq/list"]) {
    expect((await fetch(`${up.url}${path}`, { method: "POST" })).status).toBe(401);
    expect(await statusOverSocket(join(folder.path, "run/rockbot.sock"), "GET", path)).toBe(404);
  }
  expect(await statusOverSocket(join(folder.path, "run/rockbot.sock"), "POST", "/operator/dlq/list")).toBe(200);
});

async function statusOverSocket(socketPath: string, method: string, path: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  request({ socketPath, method, path }, (response) => {
    response.resume();
    resolve(response.statusCode);
  })
    .on("error", reject)
    .end();
  return promise;
}
