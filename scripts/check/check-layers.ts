import { existsSync } from "node:fs";
import { join } from "node:path";
import { allExtensions, cruise, type ICruiseResult, type IForbiddenRuleType } from "dependency-cruiser";
import { type FolderImport, folderRings } from "./folder-rings.ts";
import { layerRules, TESTS } from "./layer-rules.ts";

/**
 * Layers, cycles and rings of folders of what lies in packages, services, scripts and test below `root`.
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
  faults.push(...ringFaults(own));
  if (faults.length > 0) throw new Error([...new Set(faults)].join("\n"));
  return `${own.length} modules, ${imports} imports`;
}

/** How many imports of what lies below `root` lead back to their own file. */
export async function countCycles(root: string): Promise<number> {
  const { summary } = await cruiseAll(root, [{ name: "no cycle", from: {}, to: { circular: true } }]);
  return summary.violations.length;
}

/** In words, the imports that make the top folders and files of a package's `src` a ring, one for each two of them. */
function ringFaults(modules: ICruiseResult["modules"]): readonly string[] {
  const imports = new Map<string, FolderImport>();
  for (const { source, dependencies } of modules) {
    if (new RegExp(TESTS).test(source)) continue;
    for (const { resolved } of dependencies) {
      const [from, to] = [roomOf(source), roomOf(resolved)];
      if (from === undefined || to === undefined || from === to || packageOf(from) !== packageOf(to)) continue;
      imports.set(`${from} ${to}`, { from, to, shownBy: `${source} -> ${resolved}` });
    }
  }
  return folderRings([...imports.values()]).map(
    ({ from, shownBy }) =>
      `the top folders and files of ${packageOf(from)}/src form no ring, and this import is part of one: ${shownBy}`,
  );
}

/**
 * The top folder of its package's `src` that a file is in, or the file itself where it is in none. An index is in no
 * room. Each generated file is a room of its own: of two of them, a file by hand may import one and be imported by the
 * other.
 */
const roomOf = (file: string): string | undefined =>
  /^(packages|services)\/[^/]+\/src\/(?!index\.ts$)(generated\/)?[^/]+/.exec(file)?.[0];

const packageOf = (path: string): string => path.split("/", 2).join("/");

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
