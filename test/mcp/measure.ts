/**
 * Measures what the way over the bus costs a call of an MCP server, and a bridge with many servers: writes
 * docs/measured/mcp.md. `--quick` for a look.
 */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startOwnBroker } from "@rockbot/testing";
import { type HopRow, measureHop } from "./measure-hop.ts";
import { type ManyRow, measureMany } from "./measure-many.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const hopOptions = values.quick ? { rounds: 1, ms: 500 } : { rounds: 7, ms: 2_000 };
const many = values.quick ? { servers: 4, tools: 10 } : { servers: 50, tools: 40 };

const load = loadavg()[0] ?? 0;
await using broker = await startOwnBroker();
const hops = await measureHop(broker.url, hopOptions);
const crowds: ManyRow[] = [];
for (const kind of ["http", "stdio"] as const) crowds.push(await measureMany(broker.url, kind, many));

const direct = ({ transport, concurrency }: HopRow): HopRow | undefined =>
  hops.find((row) => row.transport === transport && row.concurrency === concurrency && row.way === "direct");
const hopLine = (row: HopRow): string =>
  `| ${row.transport} | ${row.concurrency} | ${row.way} | ${row.p50Ms.toFixed(2)} | ${row.callsPerSecond.toFixed(0)} | ${
    row.way === "direct"
      ? ""
      : `${(row.p50Ms - (direct(row)?.p50Ms ?? Number.NaN)).toFixed(2)} ms, ${((row.callsPerSecond / (direct(row)?.callsPerSecond ?? Number.NaN)) * 100).toFixed(0)} % of the calls`
  } |`;
/** What the hop through gateway and bridge may cost, against the SDK's client that calls the server directly. */
const AIMS = { moreMs: 2, ofCalls: 0.5 };
const through = hops.filter(({ way }) => way === "through the gateway");
const misses = through.flatMap((row) => {
  const more = row.p50Ms - (direct(row)?.p50Ms ?? Number.NaN);
  const share = row.callsPerSecond / (direct(row)?.callsPerSecond ?? Number.NaN);
  if (row.concurrency === 1) return more <= AIMS.moreMs ? [] : [`${row.transport}, ${more.toFixed(2)} ms more`];
  return share >= AIMS.ofCalls ? [] : [`${row.transport}, ${share.toFixed(2)} of the calls/s`];
});
const crowdLine = ({
  kind,
  connectedMs,
  bridgeMiB,
  indexMs,
  listMs,
  listAgainMs,
  callP50Ms,
  callP99Ms,
}: ManyRow): string =>
  `| ${kind === "http" ? "Streamable HTTP, all in one process" : "stdio, a process each"} | ${(connectedMs / 1_000).toFixed(1)} s | ${bridgeMiB.toFixed(0)} MiB | ${indexMs.toFixed(0)} ms | ${listMs.toFixed(0)} ms | ${listAgainMs.toFixed(1)} ms | ${callP50Ms.toFixed(1)} ms | ${callP99Ms.toFixed(1)} ms |`;

const report = `<!-- Written by \`npm run measure -- mcp\`. Do not edit. -->
# What the way over the bus costs an MCP call, and a bridge with many servers

Measured by \`npm run measure -- mcp\` on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, at a load of ${load.toFixed(1)} from elsewhere. Caller, RabbitMQ, bridge
and servers share the machine.

## Over the bus and directly

The tool gives back 200 bytes. The SDK's client calls it from one process. A caller calls it through RabbitMQ and the bridge, which keeps such calls from
running twice. The same client calls it through the gateway, RabbitMQ and the bridge. They take turns, ${hopOptions.rounds} rounds of ${hopOptions.ms / 1_000} s each; the figures are medians. Over HTTP all call the same process.

| transport | calls at once | way | p50 ms | calls/s | more than directly |
|---|---|---|---|---|---|
${hops.map(hopLine).join("\n")}

Through the gateway the aims are ${AIMS.moreMs} ms more than directly at the p50 of one call, and ${AIMS.ofCalls} of the calls/s at 64. ${misses.length === 0 ? "Each row keeps them." : `Not kept: ${misses.join("; ")}.`}

## ${many.servers} servers with ${many.tools} tools each

Connected: from the start of the bridge's process until it has all servers. Index: from an agent's question to the whole of it. Listed: from the start of a caller
until it can call all ${many.servers * many.tools} tools; again: of a list that it has. Calls: one after the other, each of another tool.

| servers | connected | memory of the bridge | index | listed | again | call p50 | call p99 |
|---|---|---|---|---|---|---|---|
${crowds.map(crowdLine).join("\n")}
`;
if (!values.quick) await writeFile(join(import.meta.dirname, "../../docs/measured/mcp.md"), report);
process.stdout.write(report);
