import { type Bus, createMemoryBus } from "@rockbot/bus";
import { allToolNames } from "@rockbot/contracts";
import type { McpBridge } from "@rockbot/mcp-bridge";
import { findGlob, openPolicy, type PolicyHolder, type Readers, type ServiceFacet } from "@rockbot/policy";
import { type BlobStore, createMemoryBlobStore } from "@rockbot/records/blobs";
import { createMemoryFileStore, type FileStore } from "@rockbot/records/files";
import { type BusService, busServices, isConfigured, type RunningService } from "@rockbot/services";
import { createToolCaller, OPERATOR } from "@rockbot/tools";
import { MEMORY_BUS } from "../bus-url.ts";
import { offTools } from "../runtime/off-tools.ts";
import { plainText } from "../terminal/plain-text.ts";
import { callerClient } from "./caller-client.ts";
import { withLockFile } from "./lock-file.ts";
import { sayingOff } from "./saying-off.ts";
import { startOrOff } from "./start-or-off.ts";
import type { ToolClient } from "./tool-client.ts";

export interface LocalClientOptions {
  readonly allowAddress: readonly string[];
  /** A file of MCP servers, whose tools are started as well. */
  readonly mcpConfig: string | undefined;
  /** The one tool that is called, if it is one: other services would only take time. */
  readonly tool?: string | undefined;
  readonly policyFile: string | undefined;
  /** The caller for whom all is asked, if that is not the command's own. */
  readonly onBehalfOf?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Servers may have to be fetched before they start. */
const SETTLE_MS = 60_000;

/** Starts the services that may have the tools in this process, over a bus of its own. */
export async function openLocalClient({
  tool,
  policyFile,
  onBehalfOf,
  ...options
}: LocalClientOptions): Promise<ToolClient> {
  const { mcpConfig, env } = options;
  await using started = new AsyncDisposableStack();
  const bus = started.use(createMemoryBus());
  const policy = started.use(await openPolicy(policyFile));
  const blobs = started.use(createMemoryBlobStore());
  const { files } = started.use(createMemoryFileStore());
  const parts = { bus, blobs, files, env, policy };
  const starting = (await mayHave(tool, options)).map(
    async (each) => [each.service.name, await startLocal(each, parts, started)] as const,
  );
  const running = new Map(await Promise.all(starting));
  const agent = onBehalfOf === undefined ? "cli" : OPERATOR;
  const caller = started.use(await createToolCaller(bus, { agent, results: "copy", policy, blobs, files }));
  if (mcpConfig !== undefined) {
    const { offerMcpTools } = await import("@rockbot/mcp/for-agents");
    started.use(await offerMcpTools(bus, caller, { agent, policy }));
  }
  const client = callerClient(
    caller,
    { where: "this process", keepsRuns: false, bus, policy, onBehalfOf },
    started.move(),
  );
  return sayingOff({ ...client, listOff: async () => offTools(running) });
}

type Config = Parameters<BusService["start"]>[0]["config"];

/** A service that is started here. */
interface LocalService {
  readonly service: BusService;
  readonly config: Config;
}

/**
 * The services that serve tools and have the settings that they need. For one tool it returns the tool's services; one
 * that lacks its settings says so.
 * @throws {ConfigError}
 */
async function mayHave(tool: string | undefined, options: LocalSettings): Promise<readonly LocalService[]> {
  const serving = busServices.filter(({ topic }) => topic !== undefined);
  const owners = tool === undefined ? [] : serving.filter(({ tools = [] }) => findGlob(tools, tool) !== undefined);
  const isKnown = tool !== undefined && allToolNames.includes(tool);
  const owning = (await loaded(owners, options)).filter(
    ({ service, config }) =>
      isConfigured(service, config) || (isKnown && service.tools?.some((glob) => glob.startsWith("*")) === false),
  );
  if (owning.length > 0) return owning;
  return (await loaded(serving, options)).filter(({ service, config }) => isConfigured(service, config));
}

type LocalSettings = Pick<LocalClientOptions, "allowAddress" | "mcpConfig" | "env">;

/** Nothing is kept warm for one command. */
async function loaded(
  wanted: readonly BusService[],
  { allowAddress, mcpConfig, env }: LocalSettings,
): Promise<readonly LocalService[]> {
  const settings: Readonly<Record<string, object>> = {
    "web-tools": allowAddress.length > 0 ? { allowAddresses: allowAddress } : {},
    "scripts-manager": { sandboxFloor: 0 },
    "mcp-bridge": { mcpConfig },
  };
  return await Promise.all(
    wanted.map(async (service) => {
      const load = await service.loader();
      return {
        service,
        config: withLockFile(load({ env, overrides: { busUrl: MEMORY_BUS, ...settings[service.name] } })),
      };
    }),
  );
}

interface LocalParts {
  readonly bus: Bus;
  readonly blobs: BlobStore;
  readonly files: FileStore;
  readonly env: LocalClientOptions["env"];
  readonly policy: PolicyHolder<Readers<ServiceFacet>>;
}

/** It does not wait for silent networks. */
async function startLocal(
  { service, config }: LocalService,
  parts: LocalParts,
  started: AsyncDisposableStack,
): Promise<RunningService> {
  const running = started.use(await startOrOff(service, { ...parts, config, triesLocal: false }));
  if (service.name === "mcp-bridge") await settle(running as McpBridge);
  return running;
}

/** Resolves once each server is connected or has failed. */
async function settle(bridge: McpBridge): Promise<void> {
  await bridge.settled(SETTLE_MS);
  for (const { name, state, lastFailure } of bridge.servers)
    if (state !== "ready")
      console.error(
        plainText(`rockbot: the MCP server "${name}" is not there: ${lastFailure?.split("\n", 1)[0] ?? state}`),
      );
}
