import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { ownVirtualHost, sharedRedisUrl, startNodeProgram } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import {
  everythingCalls,
  fileCalls,
  memoryCalls,
  type RealCall,
  startEverything,
  stdioServers,
  thinkingCalls,
} from "./real-servers.ts";

const MAIN = join(import.meta.dirname, "../../services/main.ts");
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("servers that nobody here wrote, over RabbitMQ with two bridges: each tool is listed, and one call of each gives what it should", {
  timeout: 240_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "rockbot-real-"));
  using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  writeFileSync(join(folder, "note.txt"), "from a file");
  writeFileSync(join(folder, "dot.png"), Buffer.from(PNG, "base64"));
  await using http = await startEverything("http");
  await using sse = await startEverything("sse");
  const mcpServers = { ...stdioServers(folder), "everything-http": http.entry, "everything-sse": sse.entry };
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers }));
  const calls: Readonly<Record<string, readonly RealCall[]>> = {
    everything: everythingCalls,
    "everything-http": everythingCalls,
    "everything-sse": everythingCalls,
    files: fileCalls(folder),
    memory: memoryCalls,
    thinking: thinkingCalls,
  };

  await using broker = await ownVirtualHost(); // the bridges of other tests would take calls from a shared one
  const { url } = broker;
  const env = {
    BUS_URL: url,
    REDIS_URL: await sharedRedisUrl(),
    MCP_CONFIG: join(folder, "mcp.json"),
    LOG_LEVEL: "info",
  };
  await using first = startNodeProgram(MAIN, { args: ["mcp-bridge"], env });
  await using second = startNodeProgram(MAIN, { args: ["mcp-bridge"], env });
  const connected = (log: string): number => log.match(/connected to an MCP server/g)?.length ?? 0;
  const both = () => [first, second].map((bridge) => connected(bridge.stdout()));
  await expect.poll(both, { timeout: 120_000, interval: 200 }).toEqual([6, 6]);
  await using bus = await connectBus(url);
  await using caller = await createToolCaller(bus, { agent: "mcp-real", results: "copy" });

  const expected = Object.entries(calls).flatMap(([server, list]) => list.map(({ tool }) => `${server}__${tool}`));
  const announced = (): string[] =>
    caller.tools
      .getTools()
      .map(({ name }) => name)
      .filter((name) => name.includes("__"));
  await expect.poll(announced, { timeout: 60_000 }).toEqual(expected.sort());

  for (const [server, list] of Object.entries(calls)) {
    for (const { tool, args, gives } of list) {
      const name = `${server}__${tool}`;
      const progress: number[] = [];
      const onProgress = ({ progress: at }: { readonly progress?: number | undefined }) => void progress.push(at ?? 0);
      const outcome = await caller.call(name, args, { timeoutMs: 60_000, onProgress }).catch((error: Error) => error);
      const text = outcome instanceof Error ? outcome.message : (outcome.content ?? "");
      const hasFailed = outcome instanceof Error || outcome.isError;
      expect([name, hasFailed, text]).toEqual([name, false, expect.stringMatching(gives)]);
      if (tool === "trigger-long-running-operation")
        expect([name, progress.length]).toEqual([name, expect.toSatisfy((count: number) => count >= 2)]);
    }
  }

  // Many at once are spread over both bridges, and each is answered as its own.
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, i) =>
      caller.call("everything-http__echo", { message: `call ${i}` }, { timeoutMs: 60_000 }),
    ),
  );
  expect(answers.map(({ content }) => content)).toEqual(answers.map((_, i) => `Echo: call ${i}`));
});
