import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { kubernetesTool } from "@rockbot/testing";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

const ROOT = join(import.meta.dirname, "../../..");
const helm = await kubernetesTool("helm");
const why = "why" in helm ? ` (skipped: ${helm.why})` : "";
interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: unknown;
  readonly data?: Readonly<Record<string, string>>;
}

const on = ["podMonitor", "rules", "dashboards"].flatMap((part) => ["--set", `monitoring.${part}.enabled=true`]);

test.skipIf(why !== "")(`the chart's rules are those that Prometheus of docker compose has, and each dashboard is a ConfigMap as it stands${why}`, async () => {
  const args = ["template", "rockbot", join(ROOT, "helm/rockbot"), ...on];
  const { stdout } = await promisify(execFile)("program" in helm ? helm.program : "", args, { maxBuffer: 16 * 1024 * 1024 });
  const objects = parseAllDocuments(stdout).flatMap((document) => (document.toJS() as Rendered | null) ?? []);
  const rules = objects.find(({ kind }) => kind === "PrometheusRule");
  const dashboards = objects.filter(({ metadata }) => metadata.labels?.["grafana_dashboard"] === "1");

  expect(rules?.spec).toEqual(parse(await readFile(join(ROOT, "docker/observability/rules.yml"), "utf8")));
  const texts = dashboards.flatMap(({ data = {} }) => Object.entries(data));
  expect(texts.map(([file]) => file)).toEqual(["agents.json", "broker.json", "overview.json"]);
  for (const [file, text] of texts) expect(JSON.parse(text)).toEqual(JSON.parse(await readFile(join(ROOT, "helm/rockbot/files/dashboards", file), "utf8")));
});
