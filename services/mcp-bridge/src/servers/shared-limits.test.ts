import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProcessAlive, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { faulty, startTestBridge } from "../test-bridge.ts";

const linesOf = (file: string): string[] =>
  readFileSync(file, { encoding: "utf8", flag: "a+" }).split("\n").filter(Boolean);

test("results are kept for as long as the entry says, for the same caller and the same arguments", async () => {
  await using tested = await startTestBridge((folder) => ({
    kept: { ...faulty(), cache: 60_000 },
    // Of a server that is trusted, only what it says is read-only.
    trusted: { ...faulty(), cache: 60_000, trustAnnotations: true, env: { FOLDER: folder } },
    fresh: faulty(),
  }));
  const { caller, folder } = tested;
  const runs = async (server: string): Promise<number> => {
    const file = join(folder.path, server);
    for (let i = 0; i < 2; i++)
      expect(await caller.call(`${server}__note`, { file, line: "ran" })).toMatchObject({ content: "ran" });
    return linesOf(file).length;
  };
  expect([await runs("kept"), await runs("trusted"), await runs("fresh")]).toEqual([1, 2, 2]);
  await caller.call("kept__note", { file: join(folder.path, "kept"), line: "others" });
  expect(linesOf(join(folder.path, "kept"))).toEqual(["ran", "others"]);
});

test("servers that name the same queue share its limit", async () => {
  const queued = { ...faulty(), queue: "narrow" };
  await using tested = await startTestBridge(() => ({ one: queued, two: queued, free: faulty() }), {
    beside: { queues: { narrow: { concurrency: 1, waiting: 0 } } },
  });
  const { caller, folder } = tested;
  const file = join(folder.path, "started");
  const first = caller.call("one__note", { file, line: "first", holdMs: 2_000 });
  await expect.poll(() => linesOf(file), { timeout: 10_000 }).toEqual(["first"]);
  await expect(caller.call("two__echo", {})).rejects.toMatchObject({ code: "overloaded" });
  expect(await caller.call("free__echo", {})).toMatchObject({ content: "{}" });
  expect(await first).toMatchObject({ content: "first" });
  expect(await caller.call("two__echo", {})).toMatchObject({ content: "{}" });
});

test("no more servers are being started at once than is said", async () => {
  using folder = temporaryFolder();
  const pidsFile = join(folder.path, "pids");
  const slow = { ...faulty("silent"), connectTimeoutMs: 1_000, env: { PIDS_FILE: pidsFile } };
  let most = 0;
  const looking = setInterval(() => {
    most = Math.max(most, linesOf(pidsFile).filter((pid) => isProcessAlive(Number(pid))).length);
  }, 10);
  await using tested = await startTestBridge(() => ({ first: slow, second: slow, third: slow }), {
    config: { initConcurrency: 1 },
  });
  clearInterval(looking);
  expect(tested.bridge.servers.map(({ failures }) => failures > 0)).toEqual([true, true, true]); // each had its turn
  expect(most).toBe(1);
});
