import { chooseBusUrl, displayBusUrl, MEMORY_BUS } from "../bus-url.ts";
import { CommandError } from "../command-error.ts";
import { ownSocket } from "../runtime/own-socket.ts";
import { chooseMcpConfig } from "./mcp/choose-mcp-config.ts";
import type { ToolClient } from "./tool-client.ts";

export interface OpenToolClientOptions {
  /** The option `--bus`. */
  readonly bus: string | undefined;
  /** Exceptions to the public-only rule, for tools in this process. */
  readonly allowAddress: readonly string[];
  /** The option `--mcp-config`: servers for tools in this process. */
  readonly mcpConfig: string | undefined;
  /** The one tool that is called, if it is one. */
  readonly tool?: string | undefined;
  /** The option `--policy`. */
  readonly policy?: string | undefined;
  /** The option `--for`: the caller for whom all is asked, if that is not the user. */
  readonly onBehalfOf?: string | undefined;
  /** Resolves when a signal asks the command to end: it waits for no broker then. */
  readonly requested?: Promise<NodeJS.Signals>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Opens a client of the services behind the broker, if there is an address of one. Else the running `rockbot up`, if
 * its socket answers. Else the tools' owner, started in this process over an in-memory bus.
 * @throws {CommandError} if `rockbot up` would have to call for somebody else
 */
export async function openToolClient({
  bus,
  allowAddress,
  mcpConfig,
  tool,
  policy,
  onBehalfOf,
  requested,
  env,
}: OpenToolClientOptions): Promise<ToolClient> {
  const url = chooseBusUrl(bus, env);
  const policyFile = policy ?? (env["POLICY_FILE"] || undefined);
  if (url !== MEMORY_BUS) {
    noteUnused({ allowAddress, mcpConfig }, displayBusUrl(url));
    const { openBrokerClient } = await import("./broker-client.ts");
    return openBrokerClient(url, { tool, policyFile, requested, onBehalfOf });
  }
  const socket = ownSocket(env);
  if (await socket.isLive()) {
    noteUnused({ allowAddress, mcpConfig }, 'the running "rockbot up"');
    if (onBehalfOf !== undefined)
      throw new CommandError(
        'Cannot call for another caller by --for: the running "rockbot up" takes calls of its user alone. Give it a broker, and name that by --bus',
      );
    if (policy !== undefined)
      console.error('rockbot: --policy has no effect here: the running "rockbot up" has its own');
    const [{ openSocketClient }, { sayingOff }] = await Promise.all([
      import("./socket-client.ts"),
      import("./saying-off.ts"),
    ]);
    return sayingOff(openSocketClient(socket.path));
  }
  const { openLocalClient } = await import("./local-client.ts");
  return openLocalClient({
    allowAddress,
    mcpConfig: chooseMcpConfig(mcpConfig, env),
    tool,
    policyFile,
    onBehalfOf,
    env,
  });
}

function noteUnused(
  { allowAddress, mcpConfig }: Pick<OpenToolClientOptions, "allowAddress" | "mcpConfig">,
  where: string,
): void {
  const unused = [
    ...(allowAddress.length > 0 ? ["--allow-address"] : []),
    ...(mcpConfig === undefined ? [] : ["--mcp-config"]),
  ];
  for (const option of unused)
    console.error(`rockbot: ${option} has no effect here: the tool runs in ${where}, which has its own`);
}
