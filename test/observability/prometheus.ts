import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, temporaryFolder } from "@rockbot/testing";
import { parse, stringify } from "yaml";

/** A process whose metrics are read. */
export interface Target {
  readonly job: string;
  /** Host and port. */
  readonly address: string;
}

export interface Prometheus extends AsyncDisposable {
  /** The series of an instant query. */
  query(
    expr: string,
  ): Promise<readonly { readonly metric: Readonly<Record<string, string>>; readonly value: number }[]>;
  /** The labels of the alerts that fire now; `alertname` is one. */
  firing(): Promise<readonly Readonly<Record<string, string>>[]>;
}

interface Rule {
  readonly alert?: string;
  for?: string;
}

/** Why there is no Prometheus to test with; undefined if there is one. */
export function whyNoPrometheus(): string | undefined {
  const found = spawnSync("prometheus", ["--version"], { stdio: "ignore" });
  return found.error === undefined ? undefined : "no prometheus on the PATH (on Debian: apt install prometheus)";
}

/**
 * An installed Prometheus that reads every target each three seconds and keeps to `rules`, but that no alert has to
 * last longer than two seconds.
 */
export async function startPrometheus(targets: readonly Target[], rules: string): Promise<Prometheus> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await temporaryFolder());
  const port = await freePort();
  await writeFile(join(folder.path, "rules.yml"), stringify(hurried(rules), { lineWidth: 0 }));
  await writeFile(join(folder.path, "prometheus.yml"), stringify(configuration(targets)));
  const child = starting.adopt(
    spawn(
      "prometheus",
      [
        "--config.file=prometheus.yml",
        `--storage.tsdb.path=${join(folder.path, "data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      {
        cwd: folder.path,
        stdio: ["ignore", "ignore", "pipe"],
      },
    ),
    endOf,
  );
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log = `${log}${text}`.slice(-4_000)));
  const url = `http://127.0.0.1:${port}`;
  await untilReady(`${url}/-/ready`, child, () => log);
  const parts = starting.move();
  const get = async (path: string): Promise<unknown> => {
    const { status, data, error } = (await (await fetch(`${url}/api/v1/${path}`)).json()) as {
      status: string;
      data: unknown;
      error?: string;
    };
    if (status !== "success") throw new Error(`Prometheus refuses ${path}: ${error}`);
    return data;
  };
  return {
    async query(expr) {
      const { result } = (await get(`query?query=${encodeURIComponent(expr)}`)) as {
        result: { metric: Record<string, string>; value: [number, string] }[];
      };
      return result.map(({ metric, value: [, value] }) => ({ metric, value: Number(value) }));
    },
    async firing() {
      const { alerts } = (await get("alerts")) as { alerts: { labels: Record<string, string>; state: string }[] };
      return alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function untilReady(url: string, child: ChildProcess, log: () => string): Promise<void> {
  const until = performance.now() + 60_000;
  while (performance.now() < until && child.exitCode === null) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await sleep(200);
  }
  throw new Error(`Prometheus is not ready: ${log()}`);
}

/** The labels are those of the chart's PodMonitor. */
const configuration = (targets: readonly Target[]): object => ({
  global: { scrape_interval: "3s", scrape_timeout: "3s", evaluation_interval: "1s" },
  rule_files: ["rules.yml"],
  scrape_configs: [
    {
      job_name: "rockbot",
      static_configs: targets.map(({ job, address }) => ({
        targets: [address],
        labels: { job, part_of: "rockbot", namespace: "rockbot" },
      })),
    },
  ],
});

function hurried(text: string): object {
  const file = parse(text) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
  for (const rule of file.groups.flatMap(({ rules }) => rules))
    if (rule.for !== undefined && rule.for !== "0m") rule.for = "2s";
  return file;
}
