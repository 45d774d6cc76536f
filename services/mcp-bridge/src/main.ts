import { MCP_BRIDGE } from "@rockbot/contracts";
import { exitOnConfigError, loadConfig } from "@rockbot/process/config";
import { runBusService } from "@rockbot/process/run-on-bus";
import { checkMcpBridgeConfig } from "./check-mcp-bridge-config.ts";
import { configSchema } from "./generated/config.ts";
import { startMcpBridge } from "./mcp-bridge.ts";
import { readServers } from "./servers/read-servers.ts";

const { env } = process;
const load = () => loadConfig(configSchema, { env, check: checkMcpBridgeConfig });
// Faults of the file of servers end the process before anything is started.
exitOnConfigError(() => {
  const { mcpConfig } = load();
  if (mcpConfig !== undefined) readServers(mcpConfig, env);
});

await runBusService({
  service: MCP_BRIDGE,
  load,
  async start({ bus, config, records, ...parts }) {
    const leases = await records.leases();
    const trustStore = await records.open("trust", async (...at) => (await import("@rockbot/mcp/trust/redis")).connectRedisTrustStore(...at));
    return startMcpBridge(bus, config, { ...parts, env, leases, trustStore });
  },
});
