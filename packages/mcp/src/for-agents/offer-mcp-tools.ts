import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { MCP_BRIDGE, type McpServerSummary, type McpServersIndexed, mcpServerTrust } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { createIdentity, DuplicateToolError, type Tool, type ToolCaller, withLocalLayers } from "@rockbot/tools";
import { followIndex } from "./follow-index.ts";
import { invokeByServer } from "./invoke-by-server.ts";
import { createManagementClient } from "./management-client.ts";
import type { TrustOf } from "./named-tools.ts";
import { ServerIndex } from "./server-index.ts";
import { mcpGetServiceDetails } from "./tools/mcp-get-service-details.ts";
import { mcpInvokeTool } from "./tools/mcp-invoke-tool.ts";
import { mcpListServices } from "./tools/mcp-list-services.ts";
import { mcpRegisterServer } from "./tools/mcp-register-server.ts";
import { mcpUnregisterServer } from "./tools/mcp-unregister-server.ts";
import { visibleIndex } from "./visible-index.ts";

/** For which agent the tools are, and under which policy. */
export interface OfferMcpToolsOptions {
  /** The agent's name, as the caller has it. */
  readonly agent: string;
  /**
   * Says what each caller may use, and as whom the bridge speaks where the bus verifies senders.
   * @default everything, and as mcp-bridge
   */
  readonly policy?: PolicyHolder | undefined;
  /**
   * True if its callers are known, so that each may have servers registered, where the policy names the tools in full.
   * Asked again when the policy changes.
   * @default they are
   */
  readonly mayRegister?: (() => boolean) | undefined;
  readonly log?: Logger | undefined;
}

/** An agent's tools for MCP servers, while they are offered. */
export interface OfferedMcpTools extends AsyncDisposable {
  /** The servers that a caller may see, each with the tools that it may use, as heard of until now. Sorted by name. */
  serversOf(caller: string): readonly McpServerSummary[];
}

/** An agent whose tools change asks for the index this much later: a bridge announces many at once. */
const ASK_AGAIN_MS = 200;

/**
 * Gives an agent the tools for MCP servers. They are there from the first index of servers that it hears. Tools that
 * add and remove servers are there while the bridge says that it takes such requests, and `mayRegister` does. It
 * listens before it asks for an index, and asks again when tools come or go. So it does not matter which of the two
 * starts first, or that a restarted bridge knows no agents. Disposal takes the tools away.
 */
export async function offerMcpTools(
  bus: Bus,
  caller: ToolCaller,
  { agent, policy, mayRegister = () => true, log = silentLogger }: OfferMcpToolsOptions,
): Promise<OfferedMcpTools> {
  await using started = new AsyncDisposableStack();
  const index = new ServerIndex();
  const identity = createIdentity(bus, policy);
  const management = started.use(createManagementClient(bus, agent, identity));
  const proxy = started.use(invokeByServer(bus, agent, identity));
  const indexOf = visibleIndex(index, { policy, tools: caller.tools, awaits: (toolName) => caller.awaits(toolName) });
  const trustOf: TrustOf = ({ serverName, toolNames = [] }) =>
    mcpServerTrust(serverName, toolNames, (name) => caller.tools.get(name)?.trust);
  const always = [
    mcpListServices(indexOf, trustOf),
    mcpGetServiceDetails(indexOf, management, trustOf),
    mcpInvokeTool(indexOf, { caller, invokeByServer: proxy.invoke, trustOf }),
  ];
  const registering = [mcpRegisterServer(management), mcpUnregisterServer(management)];
  const own = new Set([...always, ...registering].map(({ definition }) => definition.name));
  /** The tools of them that this agent has now. */
  const offered = new Set<Tool>();
  let asking: NodeJS.Timeout | undefined;

  function offer(): void {
    const canRegister = index.canRegister && mayRegister();
    for (const tool of canRegister ? [...always, ...registering] : always) {
      if (offered.has(tool)) continue;
      offered.add(tool);
      register(caller, tool, log);
    }
    if (!canRegister)
      for (const tool of registering) if (offered.delete(tool)) caller.tools.unregister(tool.definition.name);
  }

  const hear = (message: McpServersIndexed): void => {
    index.apply(message);
    offer();
  };
  const { ask } = started.use(await followIndex(bus, { agent, identity, hear, log }));
  started.defer(
    caller.tools.onChange(({ name }) => {
      if (own.has(name)) return;
      asking ??= setTimeout(() => {
        asking = undefined;
        void ask(); // had the one before failed, this one makes up for it
      }, ASK_AGAIN_MS).unref();
    }),
  );
  if (policy !== undefined) started.defer(policy.onChange(() => offered.size > 0 && offer()));
  started.defer(() => {
    clearTimeout(asking);
    for (const { definition } of offered) caller.tools.unregister(definition.name);
  });
  await ask();
  const running = started.move();
  return { serversOf: (by) => indexOf(by).servers, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function register({ tools }: ToolCaller, tool: Tool, log: Logger): void {
  const { name, description, inputSchema, outputSchema, readOnly, idempotent, dangerous, resultSize } = tool.definition;
  const registration = {
    name,
    description,
    parametersSchema: JSON.stringify(inputSchema),
    outputSchema: JSON.stringify(outputSchema),
    readOnly,
    idempotent,
    ...(dangerous === undefined ? {} : { dangerous }),
    resultSize,
    source: MCP_BRIDGE, // so that the policy decides who has them, and its guide comes with them
  };
  try {
    tools.register(registration, withLocalLayers(tool));
  } catch (error) {
    if (!(error instanceof DuplicateToolError)) throw error;
    log.warn({ tool: name }, "does not offer an agent's tool whose name a service has announced");
  }
}
