import { metrics } from "@opentelemetry/api";
import { startOtlpCollector } from "@rockbot/testing";
import { expect, test, vi } from "vitest";
import { startTelemetry } from "../start-telemetry.ts";

const linesOf = async (telemetry: { metricsText(): Promise<string> }, name: string): Promise<string[]> =>
  (await telemetry.metricsText()).split("\n").filter((line) => line.startsWith(name));

test("one counter is shared by all who ask for its name, and its tags count in any order", async () => {
  await using telemetry = await startTelemetry({ service: "example", logLevel: "silent" });
  const [first, second] = [1, 2].map(() => metrics.getMeter("test").createCounter("calls"));
  first?.add(1, { tool: "a", status: "ok" });
  second?.add(2, { status: "ok", tool: "a" });
  second?.add(5, { tool: "a", status: "ok" });
  first?.add(1, { tool: "b", status: "ok" });
  first?.add(1);
  first?.add(-1);
  first?.add(Number.NaN);

  expect((await linesOf(telemetry, "calls_total")).toSorted()).toEqual([
    "calls_total 1",
    'calls_total{tool="a",status="ok"} 8',
    'calls_total{tool="b",status="ok"} 1',
  ]);
});

test("what rises and falls is read as it stands, each time", async () => {
  await using telemetry = await startTelemetry({ service: "example", logLevel: "silent" });
  const running = metrics.getMeter("test").createUpDownCounter("running");
  running.add(1, { tool: "a" });
  running.add(1, { tool: "a" });
  expect(await linesOf(telemetry, "running")).toEqual(['running{tool="a"} 2']);
  running.add(-2, { tool: "a" });
  expect(await linesOf(telemetry, "running")).toEqual(['running{tool="a"} 0']);
});

test("more sets of tags than the limit are counted together, and none is lost", async () => {
  await using telemetry = await startTelemetry({ service: "example", logLevel: "silent" });
  const counter = metrics.getMeter("test").createCounter("many");
  for (let tool = 0; tool < 3_000; tool++) for (const _ of [1, 2]) counter.add(1, { tool });

  const lines = await linesOf(telemetry, "many_total");
  expect(lines).toHaveLength(2_000);
  expect(lines).toContain('many_total{otel_metric_overflow="true"} 2002');
  expect(lines).toContain('many_total{tool="0"} 2');
});

test("tags count as they stand when they are given, also if their object is frozen or comes again with others", async () => {
  await using telemetry = await startTelemetry({ service: "example", logLevel: "silent" });
  const counter = metrics.getMeter("test").createCounter("given");
  const frozen = Object.freeze({ tool: "a" });
  const changed = { tool: "a" };
  for (const _ of [1, 2]) counter.add(1, frozen);
  counter.add(1, changed);
  changed.tool = "b";
  counter.add(1, changed);
  expect((await linesOf(telemetry, "given_total")).toSorted()).toEqual([
    'given_total{tool="a"} 3',
    'given_total{tool="b"} 1',
  ]);
});

test("tags that are lists are counted by what they hold", async () => {
  await using telemetry = await startTelemetry({ service: "example", logLevel: "silent" });
  const counter = metrics.getMeter("test").createCounter("listed");
  for (const _ of [1, 2]) counter.add(1, { tags: ["a", "b"] });
  expect(await linesOf(telemetry, "listed_total")).toEqual([expect.stringMatching(/ 2$/)]);
});

test("durations are summed and sorted into buckets, whose bounds belong to them", async () => {
  await using telemetry = await startTelemetry({ service: "example", logLevel: "silent" });
  const duration = metrics.getMeter("test").createHistogram("work.duration", { unit: "ms", description: "How long." });
  for (const ms of [0, 1, 1.5, 70_000, -1, Number.NaN]) duration.record(ms, { tool: "a" });

  const lines = await linesOf(telemetry, "work_duration");
  expect(lines).toContain('work_duration_count{tool="a"} 4');
  expect(lines).toContain('work_duration_sum{tool="a"} 70002.5');
  expect(lines).toContain('work_duration_bucket{tool="a",le="1"} 2');
  expect(lines).toContain('work_duration_bucket{tool="a",le="2"} 3');
  expect(lines).toContain('work_duration_bucket{tool="a",le="60000"} 3');
  expect(lines).toContain('work_duration_bucket{tool="a",le="+Inf"} 4');
  expect(await linesOf(telemetry, "# HELP work_duration")).toEqual(["# HELP work_duration How long."]);
});

test.each([{ preference: "cumulative" }, { preference: "delta" }])(
  "a collector that wants $preference figures gets counts and durations",
  async ({ preference }) => {
    await using collector = await startOtlpCollector();
    for (const [name, value] of Object.entries(collector.env)) vi.stubEnv(name, value);
    vi.stubEnv("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", preference);
    {
      await using _telemetry = await startTelemetry({ service: "example", logLevel: "silent" });
      metrics.getMeter("test").createCounter("calls").add(3, { tool: "a" });
      metrics.getMeter("test").createHistogram("work.duration", { unit: "ms" }).record(7, { tool: "a" });
    }
    vi.unstubAllEnvs();

    const found = (name: string) => collector.metrics().filter((metric) => metric.name === name);
    expect(found("calls").at(-1)).toMatchObject({ points: [{ attributes: { tool: "a" }, value: 3 }] });
    expect(found("work.duration").at(-1)).toMatchObject({ points: [{ attributes: { tool: "a" }, value: 1 }] });
  },
);
