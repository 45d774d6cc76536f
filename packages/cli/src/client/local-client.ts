import { type Bus, createMemoryBus } from "@rockbot/bus";
import { allToolNames, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { openPolicy, type PolicyHolder } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { checkScriptsManagerConfig, configSchema as scriptsSchema } from "@rockbot/scripts-manager";
import { createToolCaller } from "@rockbot/tools";
import { checkWebToolsConfig, configSchema, startWebTools, webToolsOff } from "@rockbot/web-tools";
import { MEMORY_BUS } from "../bus-url.ts";
import { terminalText } from "../terminal/terminal-text.ts";
import { callerClient } from "./caller-client.ts";
import { lockFileBeside } from "./lock-file.ts";
import { type LocalScripts, startScripts } from "./start-scripts.ts";
import type { ToolClient } from "./tool-client.ts";

export interface LocalClientOptions {
  readonly allowAddress: readonly string[];
  /** A file of MCP servers, whose tools are started as well. */
  readonly mcpConfig: string | undefined;
  /** The one tool that is called, if it is one: another's sandboxes would only take time. */
  readonly tool?: string | undefined;
  readonly policyFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Servers may have to be fetched before they start. */
const SETTLE_MS = 60_000;

/** Starts the tools' owner in this process, over a bus of its own. */
export async function openLocalClient({ allowAddress, mcpConfig, tool, policyFile, env }: LocalClientOptions): Promise<ToolClient> {
  const overrides = { busUrl: MEMORY_BUS, ...(allowAddress.length > 0 ? { allowAddresses: allowAddress } : {}) };
  const config = loadConfig(configSchema, { env, overrides, check: checkWebToolsConfig });
  await using started = new AsyncDisposableStack();
  const bus = started.use(createMemoryBus());
  const policy = started.use(await openPolicy(policyFile));
  const mayRunScripts = tool === undefined || tool === tools.executePythonScript.name || !allToolNames.includes(tool);
  const [webTools, scripts] = await Promise.all([startWebTools(bus, config, { policy }), mayRunScripts ? startLocalScripts(bus, { env, policy }) : undefined]);
  started.use(webTools);
  if (scripts !== undefined) started.use(scripts);
  if (mcpConfig !== undefined) await startMcp(bus, mcpConfig, { env, policy, started });
  const caller = started.use(await createToolCaller(bus, { agent: "cli", results: "copy", policy }));
  if (mcpConfig !== undefined) {
    const { offerMcpTools } = await import("@rockbot/mcp/for-agents");
    started.use(await offerMcpTools(bus, caller, { agent: "cli", policy }));
  }
  const client = callerClient("this process", caller, started.move());
  return {
    ...client,
    async call(name, args, options) {
      const off = [...webToolsOff(config), ...(scripts?.off === undefined ? [] : [scripts.off])].find(({ tool }) => tool === name);
      if (off !== undefined) throw new ToolError(ToolErrorCode.Unavailable, `Cannot call "${name}": it is off. ${off.reason}`, { isRetryable: false });
      return await client.call(name, args, options);
    },
  };
}

/** Nothing is kept warm for one command, nor does it wait for silent networks. */
async function startLocalScripts(bus: Bus, { env, policy }: { readonly env: LocalClientOptions["env"]; readonly policy: PolicyHolder }): Promise<LocalScripts> {
  const config = loadConfig(scriptsSchema, { env, overrides: { busUrl: MEMORY_BUS, sandboxFloor: 0 }, check: checkScriptsManagerConfig });
  return startScripts(bus, config, { env, policy, triesLocal: false });
}

/** Resolves once each server is connected or has failed. */
async function startMcp(
  bus: Bus,
  mcpConfig: string,
  { env, policy, started }: { readonly env: LocalClientOptions["env"]; readonly policy: PolicyHolder; readonly started: AsyncDisposableStack },
): Promise<void> {
  const { checkMcpBridgeConfig, configSchema: schema, startMcpBridge } = await import("@rockbot/mcp-bridge");
  const config = loadConfig(schema, {
    env,
    overrides: { busUrl: MEMORY_BUS, mcpConfig, mcpLockFile: env["MCP_LOCK_FILE"] || lockFileBeside(mcpConfig) },
    check: checkMcpBridgeConfig,
  });
  const bridge = started.use(await startMcpBridge(bus, config, { env, policy }));
  await bridge.settled(SETTLE_MS);
  for (const { name, state, lastFailure } of bridge.servers)
    if (state !== "ready")
      console.error(terminalText(`rockbot: the MCP server "${name}" is not there: ${lastFailure?.split("\n", 1)[0] ?? state}`, process.stderr));
}
