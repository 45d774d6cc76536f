import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { startObservedSystem } from "./observed-system.ts";
import { whyNoPrometheus } from "./prometheus.ts";

const RULES = join(import.meta.dirname, "../../docker/observability/rules.yml");
const missing = whyNoPrometheus();

function promtool(args: readonly string[], input = ""): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8", input });
  return { status, output: `${stdout}${stderr}` };
}

/** What promtool feeds to the rules, a sample each 30 s, and the alerts that fire afterwards. */
interface Case {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
  readonly at: string;
  readonly alert: string;
  /** The labels of each that fires, without its severity. */
  readonly fires: readonly Readonly<Record<string, string>>[];
}

const cases: readonly Case[] = [
  {
    name: "a counter's first event is seen, though it has no sample before",
    input: {
      'rockbot_messaging_parked_messages_total{job="a",messaging_subscription="a",reason="failed"}': "_x20 1x100",
    },
    at: "12m",
    alert: "RockBotMessagesParked",
    fires: [{ job: "a", messaging_subscription: "a", reason: "failed" }],
  },
  {
    name: "an event that is over for a quarter of an hour is no alert any more",
    input: { 'rockbot_messaging_parked_messages_total{job="a",messaging_subscription="a",reason="failed"}': "1x100" },
    at: "40m",
    alert: "RockBotMessagesParked",
    fires: [],
  },
  {
    name: "a later event of the same counter is seen",
    input: { 'rockbot_audit_write_failures_total{job="a"}': "1x60 2x60" },
    at: "32m",
    alert: "RockBotAuditFails",
    fires: [{ job: "a" }],
  },
  {
    name: "each instance says the same of the broker's queue, which counts once, and its own waiting requests add up",
    input: {
      'rockbot_messaging_queue_messages{job="a",instance="1",messaging_subscription="a",queue="main"}': "300x60",
      'rockbot_messaging_queue_messages{job="a",instance="2",messaging_subscription="a",queue="main"}': "300x60",
      'rockbot_tool_requests_waiting{job="a",instance="1",service="a"}': "90x60",
      'rockbot_tool_requests_waiting{job="a",instance="2",service="a"}': "100x60",
    },
    at: "20m",
    alert: "RockBotQueueGrows",
    fires: [],
  },
  {
    name: "more than 500 requests that wait are too many",
    input: {
      'rockbot_messaging_queue_messages{job="a",instance="1",messaging_subscription="a",queue="main"}': "500x60",
      'rockbot_tool_requests_waiting{job="a",instance="1",service="a"}': "1x60",
    },
    at: "20m",
    alert: "RockBotQueueGrows",
    fires: [{ service: "a" }],
  },
  {
    name: "calls that fail are compared with those of the same service",
    input: {
      'rockbot_tool_invocations_total{job="a",status="ok"}': "0+100x60",
      'rockbot_tool_invocations_total{job="a",status="execution_failed"}': "0+4x60",
      'rockbot_tool_invocations_total{job="b",status="ok"}': "0+100x60",
      'rockbot_tool_invocations_total{job="b",status="overloaded"}': "0+10x60",
    },
    at: "20m",
    alert: "RockBotCallsFail",
    fires: [{ job: "b" }],
  },
];

test.skipIf(missing !== undefined)(`Prometheus takes the rules${missing === undefined ? "" : ` (${missing})`}`, () => {
  const { status, output } = promtool(["check", "rules", RULES]);

  expect(output).toContain("SUCCESS");
  expect(status).toBe(0);
});

test.skipIf(missing !== undefined)("the rules fire at what their alerts mean, and at nothing else", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "rules.yml"), await readFile(RULES, "utf8"));
  const tests = cases.map(({ name, input, at, alert, fires }) => ({
    name,
    interval: "30s",
    input_series: Object.entries(input).map(([series, values]) => ({ series, values })),
    promql_expr_test: [
      {
        expr: `count by (${[...new Set(["alertname", ...fires.flatMap(Object.keys)])].join(", ")}) (ALERTS{alertname="${alert}", alertstate="firing"})`,
        eval_time: at,
        exp_samples: fires.map((labels) => ({
          labels: `{${Object.entries({ alertname: alert, ...labels })
            .map(([label, value]) => `${label}="${value}"`)
            .join(", ")}}`,
          value: 1,
        })),
      },
    ],
  }));
  await writeFile(
    join(folder.path, "tests.yml"),
    stringify({ rule_files: ["rules.yml"], evaluation_interval: "30s", tests }),
  );
  const { status, output } = promtool(["test", "rules", join(folder.path, "tests.yml")]);

  expect(output).toContain("SUCCESS");
  expect(status).toBe(0);
});

test.skipIf(missing !== undefined)(
  "promtool finds nothing to say of the metrics of services that have run a call",
  { timeout: 120_000 },
  async () => {
    await using system = await startObservedSystem({ only: ["scripts-manager", "gateway"] });
    await expect
      .poll(() => system.call("execute_python_script", { script: "print(1)" }).catch(String), { timeout: 60_000 })
      .toBe(200);
    for (const { address } of system.targets) {
      const metrics = await (await fetch(`http://${address}/metrics`)).text();
      expect(promtool(["check", "metrics"], metrics)).toEqual({ status: 0, output: "" });
    }
  },
);
