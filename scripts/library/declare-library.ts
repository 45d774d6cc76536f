import { globSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { runTool } from "../check/run-tool.ts";

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string>>;
}

/** What a declaration names another file by: `from "…"`, `import("…")` and `import "…"`. */
const SPECIFIER = /(\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)"([^"]+)"/g;

/**
 * Writes the declarations of the entries, and those of the files that they lead to, as TypeScript makes them. Our own
 * packages, which nobody can install, are named by relative paths.
 * @param entries sources, relative to `root`
 * @returns the third-party packages that declarations name
 */
export async function declareLibrary(
  root: string,
  folder: string,
  entries: readonly string[],
): Promise<readonly string[]> {
  const packages = await packageEntries(root);
  await mkdir(join(root, "dist"), { recursive: true });
  const place = await mkdtemp(join(root, "dist/declare-"));
  try {
    await emit(root, place, packages, entries);
    const named = new Set<string>();
    const seen = new Set<string>();
    const open = entries.map((entry) => declarationOf(relative("packages", entry)));
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (seen.has(file)) continue;
      seen.add(file);
      const { text, leadsTo } = await readDeclaration(root, place, file, packages, named);
      open.push(...leadsTo);
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
    }
    return [...named].sort();
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

/** The source of each name by which a package of ours can be imported, relative to `packages`. */
async function packageEntries(root: string): Promise<ReadonlyMap<string, string>> {
  const manifests = globSync("packages/*/package.json", { cwd: root });
  const entries = await Promise.all(
    manifests.map(async (file) => {
      const { name, exports = {} } = JSON.parse(await readFile(join(root, file), "utf8")) as Manifest;
      return Object.entries(exports).map(
        ([path, source]) => [`${name}${path.slice(1)}`, relative("packages", join(dirname(file), source))] as const,
      );
    }),
  );
  return new Map(entries.flat());
}

/** By `paths`, as TypeScript writes nothing for what it has found in node_modules. */
async function emit(
  root: string,
  place: string,
  packages: ReadonlyMap<string, string>,
  entries: readonly string[],
): Promise<void> {
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir: place,
    paths: Object.fromEntries([...packages].map(([name, source]) => [name, [join(root, "packages", source)]])),
  };
  const config = {
    extends: join(root, "tsconfig.json"),
    compilerOptions,
    include: [join(root, "packages/*/src/**/*.d.ts")],
    files: entries.map((entry) => join(root, entry)),
  };
  await writeFile(join(place, "tsconfig.json"), JSON.stringify(config));
  await runTool(root, "tsc", ["-p", join(place, "tsconfig.json")]);
}

async function readDeclaration(
  root: string,
  place: string,
  file: string,
  packages: ReadonlyMap<string, string>,
  named: Set<string>,
) {
  const leadsTo: string[] = [];
  let needsNode = false;
  const written = await readFile(join(place, "packages", file), "utf8").catch(() =>
    readFile(join(root, "packages", file), "utf8"),
  ); // some are not made, but stand beside JavaScript
  const text = written.replace(SPECIFIER, (whole, before: string, specifier: string) => {
    const source = specifier.startsWith(".") ? join(dirname(file), specifier) : packages.get(specifier);
    if (source === undefined) {
      if (specifier.startsWith("node:")) needsNode = true;
      else named.add(specifier);
      return whole;
    }
    const target = declarationOf(source);
    leadsTo.push(target);
    const path = relative(dirname(file), target).replace(/\.d\.ts$/, ".js");
    return `${before}"${path.startsWith(".") ? path : `./${path}`}"`;
  });
  // Programs need neither name these in their own configuration, nor have what they do not use.
  const references = [
    ...(/\bAsyncDisposable\b/.test(text) ? ['lib="esnext.disposable"'] : []),
    ...(needsNode ? ['types="node"'] : []),
  ];
  return { text: references.map((reference) => `/// <reference ${reference} />\n`).join("") + text, leadsTo };
}

/** Turns the source `tools/src/call/a.ts` into `tools/src/call/a.d.ts`. */
const declarationOf = (source: string): string => source.replace(/\.[jt]s$/, ".d.ts");
