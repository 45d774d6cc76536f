/**
 * The services of the demonstration as a process of their own: `node abused-service.ts JSON`. Says "ready" on stdout.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { configSchema, startMcpBridge } from "@rockbot/mcp-bridge";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { onShutdown } from "@rockbot/process";
import { loadConfig } from "@rockbot/process/config";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { defineTool, serveTools, type Tool } from "@rockbot/tools";
import type { AbusedOptions } from "./abused-options.ts";
import { POLICY } from "./floods.ts";

const { urls, redisUrl } = JSON.parse(process.argv[2] ?? "{}") as AbusedOptions;
const say = (fields: object, text = "") => void process.stderr.write(`${text} ${JSON.stringify(fields)}\n`);
const log = { debug: () => {}, info: () => {}, warn: say, error: say };
/** As long as a page takes that is fetched. */
const HOLD_MS = 200;

/** A tool with effects, so that its calls are claimed. */
function tool(name: string, run: (signal: AbortSignal) => Promise<void>): Tool {
  const definition: ToolDefinition<{ readonly text?: string }> = {
    name,
    description: "For the demonstration.",
    inputSchema: { type: "object" },
    readOnly: false,
    idempotent: false,
    validateInput: ((value: unknown) => typeof value === "object") as Validator<{ readonly text?: string }>,
  };
  return defineTool(definition, async ({ text = "" }, { signal }) => {
    await run(signal);
    return text.slice(0, 10);
  });
}

using shutdown = onShutdown({ graceMs: 2_000 });
await using stack = new AsyncDisposableStack();
const policy = holdPolicy(createPolicy(await readPolicy(POLICY, "of the demonstration")));
const claims = stack.use(await connectRedisClaimStore(redisUrl, { log }));
const busOf = async (user: keyof typeof urls) =>
  stack.use(await connectBus(urls[user], { name: user, identity: "verified", log }));
const guides = [{ name: "demonstration", summary: "For the demonstration.", document: "# Demonstration" }];

const hold = (signal: AbortSignal): Promise<void> => sleep(HOLD_MS, undefined, { signal });
const echoes = [tool("echo_text", async () => {}), tool("hold_text", hold)];
stack.use(
  await serveTools(
    await busOf("echoes"),
    { tools: echoes, guides },
    { service: "echoes", claims, policy, log, drainMs: 1_000 },
  ),
);
const scripts = [tool("script_text", hold)];
stack.use(
  await serveTools(
    await busOf("scripts"),
    { tools: scripts, guides },
    { service: "scripts", topic: "script.invoke", claims, policy, log, drainMs: 1_000 },
  ),
);
const config = loadConfig(configSchema, { env: {}, overrides: { shutdownGraceMs: 1_000 } });
stack.use(
  await startMcpBridge(await busOf("mcp-bridge"), config, { env: { PATH: process.env["PATH"] }, policy, claims, log }),
);
process.stdout.write("ready\n");
await shutdown.requested;
