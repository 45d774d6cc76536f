import { expect, test } from "vitest";
import { curvesSvg } from "./curves.ts";
import { growthCurves, growthSection } from "./growth-report.ts";
import type { GrowthRow, Series } from "./measure-growth.ts";

const rowOf = (callers: number, callsPerSecond: number): GrowthRow => ({
  services: 10,
  tools: 100,
  callers,
  servicesReadyMs: 1_500,
  callersReadyMs: 2_500,
  callsPerSecond,
  p99Ms: 20,
  callerBytes: 1_048_576,
  brokerBytesPerCaller: 524_288,
  servicesBytes: 100 * 2 ** 20,
  foundBytes: 150 * 1_024,
  discoveryBytesPerMinute: 120 * 1_024,
  discoveryPerSecond: 10 * callers,
  idleCores: { callers: 0.05, services: 0.01, broker: 0.1 },
  busyCores: { callers: 0.4, services: 0.3, broker: 0.9 },
});
const series: readonly Series[] = [
  { grows: "tools", rows: [rowOf(10, 1_000)], limit: undefined },
  {
    grows: "callers",
    rows: [rowOf(10, 1_000), rowOf(100, 2_000)],
    limit: { services: 10, tools: 100, callers: 1_000, why: "it fails: callers end" },
  },
];

test("the page has each size once, names the first limit of each series, and the part that takes most", () => {
  const text = growthSection(series, { idleMs: 10_000, loopMs: 6_000 });

  expect(text.split("\n").filter((line) => line.startsWith("| 10 |"))).toEqual([
    "| 10 | 100 | 10 | 1.5 | 2.5 | 1000 | 20 | 1024 | 512 | 100 | 150 | 120 | 0.16 broker | 1.60 broker |",
    "| 10 | 100 | 100 | 1.5 | 2.5 | 2000 | 20 | 1024 | 512 | 100 | 150 | 120 | 0.16 broker | 1.60 broker |",
  ]);
  expect(text).toContain("- **More tools**: no limit up to 100.");
  expect(text).toContain("- **More callers**: the first limit is at 1,000, where it fails: callers end.");
});

test("the picture has a curve for each thing that was measured, with a point for each size", () => {
  const curves = growthCurves(series);
  const svg = curvesSvg(curves);

  expect(curves.map(({ title }) => title)).toEqual([...Array.from({ length: 4 }, () => "More callers"), "More tools"]);
  expect(svg.match(/<circle/g)).toHaveLength(9);
  expect(svg).toContain('points="56.0,106.0 304.0,34.0"'); // 1000 calls/s are half as high as 2000
  expect(svg).not.toMatch(/NaN|Infinity|undefined/);
});
