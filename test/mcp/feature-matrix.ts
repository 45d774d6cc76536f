import { connectBus } from "@rockbot/bus-rabbitmq";
import { configSchema, startMcpBridge } from "@rockbot/mcp-bridge";
import { loadConfig } from "@rockbot/process/config";
import { startTelemetry } from "@rockbot/process/telemetry";
import { temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { type Peer, peers } from "../../packages/mcp/src/client/test-peers.ts";
import { until } from "./bench-world.ts";
import { featureProbes, type ProbedPeer } from "./feature-probes.ts";

/** Each way of reaching a server, with each protocol era that is spoken over it. */
const columns: Readonly<Record<string, () => Promise<Peer>>> = {
  "stdio 2026-07-28": peers.stdioModern,
  "stdio 2025-11-25": peers.stdioLegacy,
  "HTTP 2026-07-28": peers.httpModern,
  "HTTP 2025-11-25": peers.httpLegacy,
  "SSE 2025-11-25": peers.sse,
  "SSE, found by itself": peers.sseByAuto,
  "WebSocket 2025-11-25": peers.webSocket,
};

/** What holds of each: by feature, then by column. */
export type FeatureMatrix = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

/** Tries each feature with each kind of server, as an agent at the other end of RabbitMQ sees it. */
export async function probeFeatures(amqpUrl: string): Promise<FeatureMatrix> {
  const matrix = new Map(Object.keys(featureProbes).map((feature) => [feature, new Map<string, boolean>()]));
  await using _telemetry = await startTelemetry({ service: "features", logLevel: "error" });
  for (const [column, startPeer] of Object.entries(columns)) {
    await using peer = await startPeer();
    await using probed = await startProbed(amqpUrl, peer);
    for (const [feature, probe] of Object.entries(featureProbes))
      matrix.get(feature)?.set(column, await probe(probed).catch(() => false));
  }
  return matrix;
}

async function startProbed(amqpUrl: string, { address, grow }: Peer): Promise<ProbedPeer & AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const { type, ...rest } = address;
  const mcpConfig = folder.write("mcp.json", { mcpServers: { peer: type === "auto" ? rest : { type, ...rest } } });
  const bridgeBus = started.use(await connectBus(amqpUrl));
  const config = loadConfig(configSchema, { env: {}, overrides: { mcpConfig, pin: "off" } });
  const bridge = started.use(await startMcpBridge(bridgeBus, config, { env: process.env }));
  const callerBus = started.use(await connectBus(amqpUrl));
  const caller = started.use(await createToolCaller(callerBus, { agent: "features", results: "copy" }));
  await bridge.settled(30_000);
  await until(() => caller.tools.getExecutor("peer__sum") !== undefined);
  const running = started.move();
  return { bridge, caller, grow, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** The document that says so. */
export function featureDocument(matrix: FeatureMatrix): string {
  const names = Object.keys(columns);
  const rows = [...matrix].map(
    ([feature, cells]) =>
      `| ${feature} | ${names.map((name) => (cells.get(name) === true ? "yes" : "no")).join(" | ")} |`,
  );
  return `<!-- Written by \`npm run measure -- mcp-features\`, from what its probes find; a test runs them, too. Do not edit. -->
# What works with which MCP server

As an agent sees it, over RabbitMQ and the bridge: by how the server is reached, and the protocol revision that it speaks.

| | ${names.join(" | ")} |
|---|${names.map(() => "---|").join("")}
${rows.join("\n")}
`;
}
