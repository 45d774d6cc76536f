import { metrics, type ObservableResult } from "@opentelemetry/api";
import type { McpServerHealth } from "@rockbot/mcp";
import type { ServerPool } from "./servers/server-pool.ts";

/** Shows how each server stands, for as long as this is not disposed of. */
export function observeServers(pool: ServerPool): Disposable {
  const meter = metrics.getMeter("@rockbot/mcp-bridge");
  const gauge = (name: string, description: string, read: (health: McpServerHealth) => number): (() => void) => {
    const instrument = meter.createObservableGauge(name, { description });
    const observe = (result: ObservableResult): void => {
      for (const { health } of pool.servers) result.observe(read(health), { server: health.name });
    };
    instrument.addCallback(observe);
    return () => instrument.removeCallback(observe);
  };
  const ends = [
    gauge("rockbot.mcp.server.up", "1 for an MCP server that is connected, else 0.", ({ state }) =>
      state === "ready" ? 1 : 0,
    ),
    gauge("rockbot.mcp.server.tools", "Tools that an MCP server offers here.", ({ tools }) => tools),
    gauge(
      "rockbot.mcp.server.failures_in_a_row",
      "Attempts and connections that failed since a call succeeded, by MCP server.",
      ({ failures }) => failures,
    ),
  ];
  return {
    [Symbol.dispose]() {
      for (const end of ends) end();
    },
  };
}
