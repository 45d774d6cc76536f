import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { build, type Plugin, transform } from "esbuild";

const STACK = "scripts/library/async-disposable-stack.ts";
/** Written by ajv, half of all code, and nothing that anybody reads: it is copied, made small, without a source map. */
const VALIDATORS = /\/generated\/[^/]*validators?\.js$/;

/**
 * Writes the entries as JavaScript for Node 22.19, with what they share in files of its own, and a source map for each.
 * Third-party packages stay imports.
 * @param entries name of the file -> source
 * @returns the names of the packages that are imported
 */
export async function bundleLibrary(
  root: string,
  folder: string,
  entries: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const imported = new Set<string>();
  const validators = new Set<string>();
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: folder,
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    platform: "node",
    target: "node22.19", // which knows neither `using` nor AsyncDisposableStack
    inject: [STACK],
    format: "esm",
    sourcemap: true,
    minifySyntax: true,
    metafile: true,
    logLevel: "warning",
    plugins: [leaveOut(root, imported, validators)],
  });
  await Promise.all([...validators].map((file) => writeSmall(file, join(folder, nameOf(root, file)))));
  await Promise.all(
    Object.keys(metafile.outputs).flatMap((file) => (file.endsWith(".map") ? [nameSources(join(root, file))] : [])),
  );
  return [...imported].sort();
}

/**
 * Third-party packages, which programs install, and validators, which are copied. Neither does anything when it is
 * imported.
 */
function leaveOut(root: string, imported: Set<string>, validators: Set<string>): Plugin {
  return {
    name: "leave out",
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        if (kind === "entry-point" || path.startsWith("node:") || path.startsWith("@rockbot/")) return undefined;
        return { path, external: true, sideEffects: false, pluginData: imported.add(packageOf(path)) };
      });
      onResolve({ filter: /\.js$/ }, ({ path, resolveDir }) => {
        const file = join(resolveDir, path);
        if (!VALIDATORS.test(file)) return undefined;
        validators.add(file);
        return { path: `./${nameOf(root, file)}`, external: true, sideEffects: false };
      });
    },
  };
}

/** Names a module: validators of several packages have the same file name. */
const nameOf = (root: string, file: string): string => relative(root, file).replaceAll("/", "-");

function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

async function writeSmall(from: string, to: string): Promise<void> {
  const { code } = await transform(await readFile(from, "utf8"), {
    minify: true,
    format: "esm",
    target: "node22.19",
    charset: "utf8",
  });
  await writeFile(to, code);
}

/** Sources are inside the map: their names are for people, and lead to no folder outside of the package. */
async function nameSources(file: string): Promise<void> {
  const map = JSON.parse(await readFile(file, "utf8")) as { sources: string[] };
  map.sources = map.sources.map((source) => source.replace(/^(\.\.\/)+(packages\/)?/, "../src/"));
  await writeFile(file, JSON.stringify(map));
}
