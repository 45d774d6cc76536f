import { spawnSync } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { queriesOf, readDashboards } from "./dashboards.ts";

const ROOT = join(import.meta.dirname, "../..");
/** The folder in reach of the installed packages. */
const FOLDER = join(ROOT, "node_modules/.cache/dashboards");

test("each dashboard is one by Grafana's own types, which are generated from its schema", async () => {
  const dashboards = await readDashboards();
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  for (const { file, text } of dashboards) {
    await writeFile(
      join(FOLDER, `${file}.ts`),
      `import type { Dashboard } from "@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen";\nexport const it: Dashboard = ${text};\n`,
    );
  }
  const options = {
    module: "esnext",
    moduleResolution: "bundler",
    target: "es2024",
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
  };
  await writeFile(join(FOLDER, "tsconfig.json"), JSON.stringify({ compilerOptions: options, include: ["*.ts"] }));
  const { stdout, status } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["-p", FOLDER], { encoding: "utf8" });

  expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
});

test("each panel has a place and a query, and no two dashboards the same uid", async () => {
  const dashboards = await readDashboards();

  expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length);
  for (const dashboard of dashboards) expect(queriesOf(dashboard).filter(({ expr }) => expr.includes("$"))).toEqual([]);
});
