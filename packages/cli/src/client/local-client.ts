import { type Bus, createMemoryBus } from "@rockbot/bus";
import { allToolNames, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { McpBridge } from "@rockbot/mcp-bridge";
import { findGlob, openPolicy, type PolicyHolder } from "@rockbot/policy";
import { type BlobStore, createMemoryBlobStore } from "@rockbot/records/blobs";
import { type BusService, busServices, type RunningService } from "@rockbot/services";
import { createToolCaller } from "@rockbot/tools";
import { MEMORY_BUS } from "../bus-url.ts";
import { plainText } from "../terminal/plain-text.ts";
import { callerClient } from "./caller-client.ts";
import { lockFileBeside } from "./lock-file.ts";
import { startOrOff } from "./start-or-off.ts";
import type { ToolClient } from "./tool-client.ts";

export interface LocalClientOptions {
  readonly allowAddress: readonly string[];
  /** A file of MCP servers, whose tools are started as well. */
  readonly mcpConfig: string | undefined;
  /** The one tool that is called, if it is one: other services would only take time. */
  readonly tool?: string | undefined;
  readonly policyFile: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Servers may have to be fetched before they start. */
const SETTLE_MS = 60_000;

/** Starts the services that may have the tools in this process, over a bus of its own. */
export async function openLocalClient({ tool, policyFile, ...options }: LocalClientOptions): Promise<ToolClient> {
  const { mcpConfig } = options;
  await using started = new AsyncDisposableStack();
  const bus = started.use(createMemoryBus());
  const policy = started.use(await openPolicy(policyFile));
  const blobs = started.use(createMemoryBlobStore());
  const running = await Promise.all(mayHave(tool, mcpConfig).map((service) => startLocal(service, { ...options, bus, policy, blobs, started })));
  const caller = started.use(await createToolCaller(bus, { agent: "cli", results: "copy", policy, blobs }));
  if (mcpConfig !== undefined) {
    const { offerMcpTools } = await import("@rockbot/mcp/for-agents");
    started.use(await offerMcpTools(bus, caller, { agent: "cli", policy }));
  }
  const client = callerClient(caller, { where: "this process", bus, policy }, started.move());
  return {
    ...client,
    async call(name, args, options) {
      const off = running.flatMap(({ off = [] }) => off).find(({ tool }) => tool === name);
      if (off !== undefined) throw new ToolError(ToolErrorCode.Unavailable, `Cannot call "${name}": it is off. ${off.reason}`, { isRetryable: false });
      return await client.call(name, args, options);
    },
  };
}

/** The services that serve tools: of one that is known, its own, which says what it lacks; and those of MCP servers where somebody names a file of them. */
function mayHave(tool: string | undefined, mcpConfig: string | undefined): readonly BusService[] {
  const serving = busServices.filter(({ topic, needs }) => topic !== undefined && (needs === undefined || mcpConfig !== undefined));
  if (tool === undefined || !allToolNames.includes(tool)) return serving;
  const isOwner = ({ topic, needs, tools = [] }: BusService): boolean =>
    topic !== undefined && (needs !== "mcpConfig" || mcpConfig !== undefined) && findGlob(tools, tool) !== undefined;
  const owners = busServices.filter(isOwner);
  return owners.length === 0 ? serving : [...owners, ...serving.filter((service) => service.needs !== undefined && !owners.includes(service))];
}

interface LocalParts extends Omit<LocalClientOptions, "tool" | "policyFile"> {
  readonly bus: Bus;
  readonly blobs: BlobStore;
  readonly policy: PolicyHolder;
  readonly started: AsyncDisposableStack;
}

/** Nothing is kept warm for one command, nor does it wait for silent networks. */
async function startLocal(service: BusService, { allowAddress, mcpConfig, env, bus, blobs, policy, started }: LocalParts): Promise<RunningService> {
  const settings: Readonly<Record<string, object>> = {
    "web-tools": allowAddress.length > 0 ? { allowAddresses: allowAddress } : {},
    "scripts-manager": { sandboxFloor: 0 },
    "mcp-bridge": { mcpConfig, mcpLockFile: env["MCP_LOCK_FILE"] || (mcpConfig === undefined ? undefined : lockFileBeside(mcpConfig)) },
  };
  const load = await service.loader();
  const config = load({ env, overrides: { busUrl: MEMORY_BUS, ...settings[service.name] } });
  const running = started.use(await startOrOff(service, { bus, blobs, config, env, policy, triesLocal: false }));
  if (service.name === "mcp-bridge") await settle(running as McpBridge);
  return running;
}

/** Resolves once each server is connected or has failed. */
async function settle(bridge: McpBridge): Promise<void> {
  await bridge.settled(SETTLE_MS);
  for (const { name, state, lastFailure } of bridge.servers)
    if (state !== "ready") console.error(plainText(`rockbot: the MCP server "${name}" is not there: ${lastFailure?.split("\n", 1)[0] ?? state}`));
}
