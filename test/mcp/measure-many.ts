import { setTimeout as sleep } from "node:timers/promises";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createEnvelope, decodeMessage, encodeMessage, messages } from "@rockbot/contracts";
import { createToolCaller } from "@rockbot/tools";
import { httpEntry, residentMiB, startBridge, startHttpServers, stdioProgram, until } from "./bench-world.ts";
import { median } from "./measure-hop.ts";

/** A bridge with many servers. Times are in milliseconds. */
export interface ManyRow {
  readonly kind: string;
  /** From the start of the bridge's process until each server is connected. */
  readonly connectedMs: number;
  /** The memory of the bridge alone. */
  readonly bridgeMiB: number;
  /** The time from a question for the index to all of it. */
  readonly indexMs: number;
  /** From the start of a new caller until it can call each tool. */
  readonly listMs: number;
  /** The time of a list that a caller has, in milliseconds. */
  readonly listAgainMs: number;
  readonly callP50Ms: number;
  readonly callP99Ms: number;
}

const CALLS = 400;
const SETTLE_MS = 2_000;

export async function measureMany(
  amqpUrl: string,
  kind: "http" | "stdio",
  { servers, tools }: { readonly servers: number; readonly tools: number },
): Promise<ManyRow> {
  await using http =
    kind === "http" ? await startHttpServers(servers, tools) : { urls: [], async [Symbol.asyncDispose]() {} };
  const entries =
    kind === "http" ? http.urls.map(httpEntry) : Array.from({ length: servers }, () => stdioProgram(tools));
  await using bridge = await startBridge(
    amqpUrl,
    Object.fromEntries(entries.map((entry, i) => [`server-${i}`, entry])),
  );
  await sleep(SETTLE_MS);
  const bridgeMiB = await residentMiB(bridge.pid);
  const indexMs = await askForIndex(amqpUrl, servers);

  await using bus = await connectBus(amqpUrl);
  const startedAt = performance.now();
  await using caller = await createToolCaller(bus, { agent: "bench-many", results: "copy" });
  const offered = (): string[] =>
    caller.tools.getTools().flatMap(({ name }) => (name.startsWith("server-") ? [name] : []));
  await until(() => offered().length === servers * tools);
  const listMs = performance.now() - startedAt;
  const listedAt = performance.now();
  const names = offered();
  const listAgainMs = performance.now() - listedAt;

  const latencies: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    const name = names[(i * 7_919) % names.length] ?? "";
    const before = performance.now();
    await caller.call(name, { text: name });
    latencies.push(performance.now() - before);
  }
  const callP99Ms = latencies.toSorted((a, b) => a - b)[Math.floor(CALLS * 0.99)] ?? Number.NaN;
  return {
    kind,
    connectedMs: bridge.connectedMs,
    bridgeMiB,
    indexMs,
    listMs,
    listAgainMs,
    callP50Ms: median(latencies),
    callP99Ms,
  };
}

async function askForIndex(amqpUrl: string, servers: number): Promise<number> {
  await using bus = await connectBus(amqpUrl);
  const { promise, resolve } = Promise.withResolvers<number>();
  await using _ = await bus.subscribe(
    { name: "bench-index", topics: ["tool.meta.mcp.bench-index"], kind: "copy" },
    async ({ body }) => {
      const index = decodeMessage("McpServersIndexed", body);
      if (index.ok && index.value.isSnapshot === true && index.value.servers.length === servers)
        resolve(performance.now());
    },
  );
  const askedAt = performance.now();
  const body = encodeMessage("McpMetadataRefreshRequest", { serverName: null });
  await bus.publish(
    createEnvelope({
      topic: "tool.meta.mcp.refresh",
      type: messages.McpMetadataRefreshRequest.type,
      source: "bench-index",
      body,
    }),
  );
  return (await promise) - askedAt;
}
