import { within } from "@rockbot/base";
import type { Bus } from "@rockbot/bus";
import { MCP_BRIDGE, newId, tools } from "@rockbot/contracts";
import type { OfferMcpToolsOptions } from "@rockbot/mcp/for-agents";
import { createToolCaller, OPERATOR, type ToolCaller } from "@rockbot/tools";
import { displayBusUrl } from "../bus-url.ts";
import { connectRuled } from "../connect-broker.ts";
import { plainText } from "../terminal/plain-text.ts";
import { callerClient } from "./caller-client.ts";
import type { ToolClient } from "./tool-client.ts";

export interface BrokerClientOptions {
  /** The one tool that is called, if it is one. */
  readonly tool?: string | undefined;
  readonly policyFile: string | undefined;
  readonly requested?: Promise<NodeJS.Signals> | undefined;
  /** The caller for whom all is asked, if that is not the user itself. */
  readonly onBehalfOf?: string | undefined;
}

/** How long a bridge that runs has to tell its index. */
const INDEX_MS = 2_000;

/**
 * Calls the services behind a broker. The result queue is this command's own and ends with it. A call that the policy
 * does not allow is not sent.
 */
export async function openBrokerClient(
  url: string,
  { tool, policyFile, requested, onBehalfOf }: BrokerClientOptions,
): Promise<ToolClient> {
  await using started = new AsyncDisposableStack();
  const { bus, policy, agent: own } = started.use(await connectRuled(url, "rockbot call", policyFile, requested));
  const agent = onBehalfOf === undefined ? own : (bus.traits.user ?? OPERATOR);
  const caller = started.use(
    await createToolCaller(bus, { agent, instance: newId().slice(0, 12), results: "copy", policy }),
  );
  const by = onBehalfOf === undefined ? caller.agent : undefined;
  if (tool === undefined || tool.startsWith("mcp_")) started.use(await mcpTools(bus, caller, { agent, policy, by }));
  return callerClient(
    caller,
    { where: `services behind ${displayBusUrl(url)}`, keepsRuns: true, bus, policy, onBehalfOf },
    started.move(),
  );
}

/** The tools for MCP servers, once the bridge that runs has told which there are. */
async function mcpTools(
  bus: Bus,
  caller: ToolCaller,
  { by, ...options }: OfferMcpToolsOptions & { readonly by: string | undefined },
): Promise<AsyncDisposable | undefined> {
  const { mayHearBridge, offerMcpTools } = await import("@rockbot/mcp/for-agents");
  if (!mayHearBridge(bus, options.policy, by)) return undefined;
  const there = Promise.withResolvers<void>();
  const off = caller.tools.onChange(({ name }) => name === tools.mcpListServices.name && there.resolve());
  try {
    const offered = await offerMcpTools(bus, caller, options);
    const { services } = await caller.discovered();
    if (services.includes(MCP_BRIDGE))
      await within(INDEX_MS, there.promise, () => new Error("no index")).catch(() => {});
    return offered;
  } catch (error) {
    console.error(
      plainText(
        `rockbot: the tools for MCP servers are left out: ${error instanceof Error ? error.message : String(error)}`,
      ),
    );
    return undefined;
  } finally {
    off();
  }
}
