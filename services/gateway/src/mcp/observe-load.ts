import { metrics, type ObservableResult } from "@opentelemetry/api";
import type { EndpointLoad } from "@rockbot/mcp/serve";

/** Shows how many MCP clients are known and listen, for as long as this is not disposed of. */
export function observeLoad(load: () => EndpointLoad): Disposable {
  const meter = metrics.getMeter("@rockbot/gateway");
  const gauge = (name: string, description: string, read: () => number): (() => void) => {
    const instrument = meter.createObservableGauge(name, { description });
    const observe = (result: ObservableResult): void => result.observe(read());
    instrument.addCallback(observe);
    return () => instrument.removeCallback(observe);
  };
  const ends = [
    gauge(
      "rockbot.gateway.mcp.sessions",
      "MCP clients of the older protocol era that are remembered.",
      () => load().sessions,
    ),
    gauge(
      "rockbot.gateway.mcp.listeners",
      "Streams on which MCP clients hear that tools have changed.",
      () => load().listeners,
    ),
  ];
  return {
    [Symbol.dispose]() {
      for (const end of ends) end();
    },
  };
}
