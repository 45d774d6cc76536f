import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CHART, type KubeObject, renderChart } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { helm, helmProgram, named, profiles } from "./profiles.ts";

type Rendered = KubeObject & { readonly spec?: unknown; readonly data?: Readonly<Record<string, string>> };

describe.skipIf("why" in helm)(named("what watches a release"), () => {
  test("has the rules that Prometheus of docker compose has, and each dashboard as it stands", async () => {
    const { args, values } = profiles.everything;
    const objects = (await renderChart(helmProgram, args, values)) as readonly Rendered[];
    const rules = objects.find(({ kind }) => kind === "PrometheusRule");
    const dashboards = objects.filter(({ metadata }) => metadata.labels?.["grafana_dashboard"] === "1");

    expect(rules?.spec).toEqual(parse(await readFile(join(CHART, "../../docker/observability/rules.yml"), "utf8")));
    const texts = dashboards.flatMap(({ data = {} }) => Object.entries(data));
    expect(texts.map(([file]) => file)).toEqual(["agents.json", "broker.json", "overview.json"]);
    for (const [file, text] of texts)
      expect(JSON.parse(text)).toEqual(JSON.parse(await readFile(join(CHART, "files/dashboards", file), "utf8")));
  });
});
