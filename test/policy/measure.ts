/**
 * Measures what the policy costs each call, and what it is worth when a caller floods a service: writes
 * docs/measured/policy.md.
 */
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { connectRedisRateStore } from "@rockbot/records/rates/redis";
import { startOwnBroker, startOwnRedis } from "@rockbot/testing";
import { FLOOD_POLICY, type FloodOptions, inOneProcess, overBroker, runFlood } from "./flood.ts";
import { measureDecision, measureLayers } from "./layer-cost.ts";

const ROUNDS = 9;
const FLOOD_ROUNDS = 3;
const SECONDS = 10;

await using redis = await startOwnRedis();
await using sharedRates = await connectRedisRateStore(redis.url);
const load = loadavg()[0] ?? 0;
const layers = await measureLayers({ rounds: ROUNDS, sharedRates });
const [, without = Number.NaN] = [...layers][0] ?? [];
const decisionUs = await measureDecision();

await using broker = await startOwnBroker();
const buses: Record<string, FloodOptions["openBuses"]> = {
  "one process": inOneProcess,
  RabbitMQ: () => overBroker(broker.url),
};
const floods: Record<string, Pick<FloodOptions, "isFlooded" | "policy">> = {
  "no flood": { isFlooded: false, policy: FLOOD_POLICY },
  "a flood, held by the policy": { isFlooded: true, policy: FLOOD_POLICY },
  "a flood, held by nothing": { isFlooded: true },
};
const places = Object.keys(buses).flatMap((bus) =>
  Object.keys(floods).map((flood) => ({ bus, flood, p50: [] as number[], p99: [] as number[] })),
);
for (let round = 0; round < FLOOD_ROUNDS; round++) {
  for (const { bus, flood, p50, p99 } of places) {
    const options = floods[flood] as (typeof floods)[string];
    const { quietMs } = await runFlood({
      ...options,
      openBuses: buses[bus] as (typeof buses)[string],
      seconds: SECONDS,
    });
    p50.push(quietMs[Math.floor(quietMs.length * 0.5)] ?? Number.NaN);
    p99.push(quietMs[Math.floor(quietMs.length * 0.99)] ?? Number.NaN);
    process.stderr.write(`${bus}, ${flood}: p99 ${p99.at(-1)?.toFixed(1)} ms\n`);
  }
}

const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN;
const alone = (bus: string): number =>
  median(places.find((place) => place.bus === bus && place.flood === "no flood")?.p99 ?? []);
const report = `<!-- Written by \`npm run measure -- policy\`. Do not edit. -->
# What the policy costs, and what it is worth

Measured by \`npm run measure -- policy\` on ${cpus().length} cores (${cpus()[0]?.model ?? "unknown"}), Node ${process.versions.node}, at a load of ${load.toFixed(1)} from elsewhere.
A decision that was made before costs ${decisionUs.toFixed(3)} µs.

## What the layers cost a call

One call of a tool that does nothing, through the layers of the serving side in one process, without a bus. The figures are processor time, the
median of ${ROUNDS} rounds.

| policy | µs a call | more than without |
|---|---|---|
${[...layers].map(([name, us]) => `| ${name} | ${us.toFixed(1)} | ${(us - without).toFixed(1)} |`).join("\n")}

## What a flood costs others

A service bears 40 calls a second of 200 ms each. One caller makes 5 a second, another 60. The policy is
\`${FLOOD_POLICY}\`. The figures are those of the first caller, the median of ${FLOOD_ROUNDS} rounds of ${SECONDS} s:

| bus | | p50 ms | p99 ms | p99 to that without a flood |
|---|---|---|---|---|
${places.map(({ bus, flood, p50, p99 }) => `| ${bus} | ${flood} | ${median(p50).toFixed(0)} | ${median(p99).toFixed(0)} | ${(median(p99) / alone(bus)).toFixed(2)} |`).join("\n")}
`;
await writeFile(join(import.meta.dirname, "../../docs/measured/policy.md"), report);
process.stdout.write(report);
