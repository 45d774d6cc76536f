import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { build, type Metafile } from "esbuild";
import { eagerFiles } from "./eager-files.ts";
import { median } from "./median.ts";

export interface ImportCost {
  readonly specifier: string;
  /** True if every start pays for it; else only its users do, by `await import()`. */
  readonly isEager: boolean;
  readonly kiB: number;
  readonly ms: number;
  readonly residentMiB: number;
}

const RUNS = 5;
const PROBE =
  "const t = performance.now(); await import(process.argv[1]); console.log(performance.now() - t, process.memoryUsage.rss() / 2 ** 20);";

/**
 * What each library that our own files import costs alone: bundled by itself and imported by an otherwise empty
 * process, median of 5. Libraries share parts, so that the sum is more than all of them cost together.
 *
 * @param metafile - of the service's bundle
 * @returns dearest first
 */
export async function measureImports(root: string, metafile: Metafile): Promise<ImportCost[]> {
  const folder = await mkdtemp(join(tmpdir(), "import-cost-"));
  try {
    const empty = await probe("data:text/javascript,");
    const costs: ImportCost[] = [];
    for (const [specifier, { importer, isEager }] of libraries(metafile)) {
      const file = join(folder, `${costs.length}.mjs`);
      await bundleAlone(specifier, dirname(join(root, importer)), file);
      const { ms, residentMiB } = await probe(file);
      costs.push({
        specifier,
        isEager,
        kiB: (await stat(file)).size / 1024,
        ms: Math.max(0, ms - empty.ms),
        residentMiB: Math.max(0, residentMiB - empty.residentMiB),
      });
    }
    return costs.sort((a, b) => b.ms - a.ms);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function libraries(metafile: Metafile): Map<string, { readonly importer: string; readonly isEager: boolean }> {
  const eager = eagerFiles(metafile);
  const found = new Map<string, { readonly importer: string; readonly isEager: boolean }>();
  for (const [importer, input] of Object.entries(metafile.inputs)) {
    if (importer.includes("node_modules/")) continue;
    for (const { original, path } of input.imports) {
      if (original !== undefined && path.includes("node_modules/"))
        found.set(original, { importer, isEager: eager.has(path) });
    }
  }
  return found;
}

async function bundleAlone(specifier: string, resolveDir: string, outfile: string): Promise<void> {
  await build({
    stdin: { contents: `export * as it from ${JSON.stringify(specifier)};`, resolveDir },
    outfile,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    mainFields: ["module", "main"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
}

async function probe(file: string): Promise<{ readonly ms: number; readonly residentMiB: number }> {
  const runs: [number, number][] = [];
  for (let run = 0; run < RUNS; run++) {
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", PROBE, file], {
      timeout: 30_000,
    });
    const [ms = 0, residentMiB = 0] = stdout.split(" ").map(Number);
    runs.push([ms, residentMiB]);
  }
  return { ms: median(runs.map(([ms]) => ms)), residentMiB: median(runs.map(([, residentMiB]) => residentMiB)) };
}
