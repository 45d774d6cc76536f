import { existsSync } from "node:fs";
import { join } from "node:path";
import { allExtensions, cruise, type ICruiseResult, type IForbiddenRuleType } from "dependency-cruiser";
import { layerRules } from "./layer-rules.ts";

/**
 * Layers and cycles of what lies in packages, services, scripts and test below `root`.
 *
 * @returns a line that says what was looked at
 * @throws {Error} with one line for each forbidden import; also if nothing was looked at, which the library calls a
 * success
 */
export async function checkLayers(root: string): Promise<string> {
  const output = await cruiseAll(root, layerRules);

  const own = output.modules.filter(({ source }) => /^(packages|services)\/.*\.ts$/.test(source));
  const imports = own.reduce((sum, { dependencies }) => sum + dependencies.length, 0);
  if (
    own.length === 0 ||
    imports === 0 ||
    !allExtensions.some(({ extension, available }) => extension === ".ts" && available)
  ) {
    throw new Error(
      `Cannot check layers: ${own.length} modules with ${imports} imports were seen. Does dependency-cruiser have TypeScript 6 (packageExtensions)?`,
    );
  }
  const faults = output.summary.violations.map(
    ({ rule, from, to, cycle }) => `${rule.name}: ${[from, ...(cycle?.map(({ name }) => name) ?? [to])].join(" -> ")}`,
  );
  if (faults.length > 0) throw new Error([...new Set(faults)].join("\n"));
  return `${own.length} modules, ${imports} imports`;
}

/** How many imports of what lies below `root` lead back to their own file. */
export async function countCycles(root: string): Promise<number> {
  const { summary } = await cruiseAll(root, [{ name: "no cycle", from: {}, to: { circular: true } }]);
  return summary.violations.length;
}

async function cruiseAll(root: string, forbidden: IForbiddenRuleType[]): Promise<ICruiseResult> {
  const { output } = await cruise(
    ["packages", "services", "scripts", "test"].filter((folder) => existsSync(join(root, folder))),
    {
      baseDir: root,
      ruleSet: { forbidden },
      validate: true,
      tsPreCompilationDeps: true, // else type-only imports are not seen
      doNotFollow: { path: "(^|/)node_modules/" },
      exclude: { path: "^(packages|services)/[^/]+/dist/" }, // ours only: libraries lie in folders of that name too
      enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "types", "default"] },
    },
  );
  if (typeof output === "string")
    throw new Error(`Cannot check layers: dependency-cruiser answers in words: ${output}`);
  return output;
}
