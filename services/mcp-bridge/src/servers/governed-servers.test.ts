import { type Logger, silentLogger } from "@rockbot/bus";
import { expect, test } from "vitest";
import { faulty, startTestBridge } from "../test-bridge.ts";

test("toolResponseMaxBytes is announced; traceMCP logs the frames of one server or of all, without known secrets, and is turned on while servers run", async () => {
  const frames: { readonly server: string; readonly direction: string; readonly frame: string }[] = [];
  const warn: Logger["warn"] = (fields, message) =>
    void (message === "MCP frame" && frames.push(fields as (typeof frames)[number]));
  const entries = {
    one: { ...faulty(), env: { TOKEN: "canary-of-a-server" }, traceMCP: true, autoApprove: ["*"] },
    two: faulty(),
  };
  await using tested = await startTestBridge(() => entries, {
    log: { ...silentLogger, warn },
    beside: { toolResponseMaxBytes: 30_000 },
  });
  const { bridge, caller, folder } = tested;
  await expect
    .poll(() => caller.tools.get("two__echo")?.resultSize)
    .toEqual({ threshold: 30_000, chunkLength: 30_000, keptSeconds: 1_200 });
  const framesOf = async (server: string) => {
    frames.length = 0;
    await caller.call(`${server}__echo`, { said: 'a "canary-of-a-server"' });
    return frames.map((each) => `${each.server} ${each.direction} ${JSON.parse(each.frame).method ?? "result"}`);
  };

  expect(bridge.notes).toEqual([expect.stringMatching(/mcp\.json: mcpServers\.one: "autoApprove" grants nothing/)]);
  expect(frames).toContainEqual({
    server: "one",
    direction: "received",
    frame: expect.stringContaining('"serverInfo"'),
  });
  expect(await framesOf("one")).toEqual(["one sent tools/call", "one received result"]);
  expect(JSON.stringify(frames)).not.toContain("canary");
  expect(await framesOf("two")).toEqual([]);
  folder.write("mcp.json", { mcpServers: entries, toolResponseMaxBytes: 30_000, traceMCP: true });
  await expect.poll(() => framesOf("two"), { timeout: 10_000 }).toEqual(["two sent tools/call", "two received result"]); // no handshake: it stays connected
});
