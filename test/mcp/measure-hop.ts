import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createToolCaller } from "@rockbot/tools";
import { closedLoop, type LoopOptions } from "../bench/closed-loop.ts";
import type { Caller } from "../bench/contender.ts";
import {
  httpEntry,
  startBridge,
  startHttpServers,
  startMcpGateway,
  stdioProgram,
  TOKEN,
  until,
} from "./bench-world.ts";

export interface HopOptions {
  readonly rounds: number;
  /** The time of each contender in each round, in milliseconds. */
  readonly ms: number;
}

/**
 * Calls of one server, made by the SDK's client in this process, or through RabbitMQ and a bridge, by our own caller or
 * by the SDK's client and a gateway; the medians of all rounds.
 */
export interface HopRow {
  readonly transport: string;
  readonly way: "direct" | "over the bus" | "through the gateway";
  readonly concurrency: number;
  readonly p50Ms: number;
  readonly callsPerSecond: number;
}

const BYTES = 200;
const CONCURRENCIES = [1, 64];
const WARM_UP: LoopOptions = { payload: "text", thinkMs: 0, ms: 2_000, concurrency: 16, bytes: BYTES };

/**
 * All ways in turn, round by round, so that what else the machine does meets all alike. Over HTTP all call the same
 * process. Over stdio the bridge has a process of its own.
 */
export async function measureHop(amqpUrl: string, { rounds, ms }: HopOptions): Promise<readonly HopRow[]> {
  await using http = await startHttpServers(1, 1);
  const [url = ""] = http.urls;
  await using _bridge = await startBridge(amqpUrl, { http: httpEntry(url), stdio: stdioProgram(1) });
  await using bus = await connectBus(amqpUrl);
  await using caller = await createToolCaller(bus, { agent: "bench-mcp", results: "copy" });
  await until(() => ["http__echo_0", "stdio__echo_0"].every((name) => caller.tools.getExecutor(name) !== undefined));

  await using gateway = await startMcpGateway(amqpUrl);
  await using throughGateway = await connectClient(httpTransport(gateway.url));
  await using overHttp = await connectClient(httpTransport(url));
  await using overStdio = await connectClient(new StdioClientTransport({ ...stdioProgram(1), stderr: "ignore" }));
  const contenders = [
    { transport: "Streamable HTTP", way: "direct", call: overHttp.call("echo_0") },
    {
      transport: "Streamable HTTP",
      way: "over the bus",
      call: async (text: string) => (await caller.call("http__echo_0", { text })).content ?? "",
    },
    { transport: "Streamable HTTP", way: "through the gateway", call: throughGateway.call("http__echo_0") },
    { transport: "stdio", way: "direct", call: overStdio.call("echo_0") },
    {
      transport: "stdio",
      way: "over the bus",
      call: async (text: string) => (await caller.call("stdio__echo_0", { text })).content ?? "",
    },
    { transport: "stdio", way: "through the gateway", call: throughGateway.call("stdio__echo_0") },
  ] as const;
  for (const { call } of contenders) await closedLoop(callerOf(call), WARM_UP);

  const measured = contenders.flatMap((contender) =>
    CONCURRENCIES.map((concurrency) => ({ ...contender, concurrency, p50s: [] as number[], rates: [] as number[] })),
  );
  for (let round = 0; round < rounds; round++) {
    for (const { call, concurrency, p50s, rates } of measured) {
      const { p50Ms, calls, elapsedMs } = await closedLoop(callerOf(call), {
        ms,
        concurrency,
        bytes: BYTES,
        payload: "text",
        thinkMs: 0,
      });
      p50s.push(p50Ms);
      rates.push((calls / elapsedMs) * 1_000);
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  return measured.map(({ transport, way, concurrency, p50s, rates }) => ({
    transport,
    way,
    concurrency,
    p50Ms: median(p50s),
    callsPerSecond: median(rates),
  }));
}

const httpTransport = (url: string): Transport =>
  new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${TOKEN}` } } });

interface ConnectedClient extends AsyncDisposable {
  /** @throws {Error} if a call has another answer than text */
  call(tool: string): (text: string) => Promise<string>;
}

/** The SDK's client, in the newer era. */
async function connectClient(transport: Transport): Promise<ConnectedClient> {
  const client = new Client({ name: "bench", version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(transport);
  return {
    call: (name) => async (text) => {
      const { content, isError } = await client.callTool({ name, arguments: { text } });
      const [block] = content;
      if (block?.type !== "text" || isError === true) throw new Error(`the call fails: ${JSON.stringify(content)}`);
      return block.text;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

const callerOf = (call: (text: string) => Promise<string>): Caller => ({
  call: async ({ text = "" }) => ({ text: await call(text) }),
  async [Symbol.asyncDispose]() {},
});

export const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
