import { randomBytes } from "node:crypto";
import { CallJournal } from "@rockbot/records/journal";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { sharedRedisUrl, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runHere, startUp } from "./test-cli.ts";

test("rockbot calls lists the calls of the running system, and show tells one of them", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  await using up = await startUp(options);
  await runHere(["call", "list_tool_guides"], options);
  await fetch(`${up.url}/v1/tools/web_browze/invoke`, { method: "POST" });

  const listed = await runHere(["calls"], options);
  expect([listed.code, listed.stdout.trim().split("\n")]).toEqual([
    0,
    [
      expect.stringMatching(
        /Z {2}failed: tool_not_found +\d+ ms {2}1 attempt {2}web_browze +gateway {2,}[0-9a-f]{32}$/,
      ),
      expect.stringMatching(
        /Z {2}answered +\d+ ms {2}1 attempt {2}list_tool_guides +cli\.[0-9a-f]{12} {2}[0-9a-f]{32}$/,
      ),
    ],
  ]);
  expect(listed.stderr).toMatch(/^started +state +took +attempts +tool +caller +id\n2 calls/);
  const json = JSON.parse((await runHere(["calls", "--json", "--limit", "1"], options)).stdout) as {
    toolCallId: string;
  }[];
  expect(json).toMatchObject([{ toolName: "web_browze", state: "failed", code: "tool_not_found" }]);

  const shown = await runHere(["calls", "show", json[0]?.toolCallId ?? ""], options);
  expect([shown.code, shown.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^web_browze for gateway, call [0-9a-f]{32}\nfailed: tool_not_found after .*\n.* \+0 ms {2}asked\n.* ms {2}failed: tool_not_found\n$/,
    ),
  ]);
  expect((await runHere(["calls", "show", json[0]?.toolCallId.slice(0, 8) ?? ""], options)).stdout).toBe(shown.stdout);
  expect(await runHere(["calls", "show", "nobodys"], options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Cannot find the call "nobodys"'),
  });

  // Only the socket tells without a token: a tool could reach the gateway's port.
  expect((await fetch(`${up.url}/operator/calls`)).status).toBe(401);
});

test("rockbot calls reads the journals in Redis, and says what is missing without any", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const url = await sharedRedisUrl();
  const toolCallId = randomBytes(16).toString("hex");
  {
    await using store = await connectRedisJournalStore(url);
    await using journal = new CallJournal({ caller: "test-agent.0", store });
    journal.asked({ toolCallId, toolName: "echo", timeoutMs: 1_000 }).wentBy("fast");
  }
  expect(await runHere(["calls", "show", toolCallId, "--redis", url], options)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(`^echo for test-agent.0, call ${toolCallId}\\nasked after .*\\nasked by the fast lane\\n`),
    ),
  });
  expect((await runHere(["calls", "--redis", url, "--limit", "1000"], options)).stdout).toContain(toolCallId);
  expect(await runHere(["calls"], options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Cannot read any calls"),
  });
  expect((await runHere(["calls", "--limit", "0"], options)).code).toBe(2);
  expect((await runHere(["calls", "--redis", "localhost"], options)).code).toBe(2);
});
