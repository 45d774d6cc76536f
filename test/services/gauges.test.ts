import { randomBytes } from "node:crypto";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { startTelemetry } from "@rockbot/process/telemetry";
import { sharedAmqpUrl } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startHeldTool } from "./held-tool.ts";

test("each bound on the way of a call has a gauge: in flight, being published, held ready, in handlers, waiting, running; and so have the queues", {
  timeout: 120_000,
}, async () => {
  await using telemetry = await startTelemetry({ service: "gauges", logTo: "stderr" });
  const url = await sharedAmqpUrl();
  const name = `held-${randomBytes(4).toString("hex")}`;
  await using tool = await startHeldTool(url, name, { concurrency: 2 });
  await using bus = await connectBus(url, { name: "gauges" });
  await using caller = await createToolCaller(bus, { agent: name });
  const gauge = async (line: string) =>
    (await telemetry.metricsText())
      .split("\n")
      .find((text) => text.startsWith(line))
      ?.slice(line.length)
      .trim();
  const gauges = () =>
    Promise.all(
      [
        "rockbot_tool_calls_in_flight",
        'rockbot_messaging_publish_window{state="unconfirmed"}',
        'rockbot_messaging_publish_window{state="waiting"}',
        `rockbot_messaging_prefetched_messages{messaging_subscription="${name}"}`,
        `rockbot_messaging_active_messages{messaging_subscription="${name}"}`,
        `rockbot_tool_requests_waiting{service="${name}"}`,
        `rockbot_tool_running{tool_name="${name}"}`,
      ].map(gauge),
    );

  await expect.poll(() => caller.tools.get(name)).toBeDefined();
  const calls = Promise.allSettled(Array.from({ length: 7 }, () => caller.call(name, { index: 0 })));
  await expect.poll(gauges, { timeout: 10_000 }).toEqual(["7", "0", "0", "0", "4", "2", "2"]);
  await expect.poll(() => gauge(`rockbot_tool_requests_oldest_seconds{service="${name}"}`)).toMatch(/^[\d.]*[1-9]/);
  const lines = async () => (await telemetry.metricsText()).split("\n");
  const depth = `rockbot_messaging_queue_messages{messaging_subscription="${name}"`;
  await expect
    .poll(lines, { timeout: 30_000, interval: 500 })
    .toEqual(
      expect.arrayContaining([
        `${depth},queue="main"} 3`,
        `${depth},queue="parked"} 0`,
        `rockbot_messaging_queue_consumers{messaging_subscription="${name}"} 1`,
        'rockbot_messaging_connections{connection="publish",state="ready"} 2',
        'rockbot_messaging_connections{connection="consume",state="down"} 0',
        "rockbot_tool_discovery_missing_lists 0",
      ]),
    );
  tool.release("even");
  expect((await calls).map(({ status }) => status)).toEqual(Array.from({ length: 7 }, () => "fulfilled"));
  await expect.poll(gauges, { timeout: 10_000 }).toEqual(["0", "0", "0", "0", "0", "0", "0"]);
  expect(await gauge(`rockbot_tool_requests_oldest_seconds{service="${name}"}`)).toBe("0");
  expect(await gauge(`rockbot_tool_wait_duration_count{service="${name}"}`)).toBe("7");
});
