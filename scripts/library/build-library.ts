import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { addCommand, BIN } from "./add-command.ts";
import { bundleLibrary } from "./bundle-library.ts";
import { declareLibrary } from "./declare-library.ts";

interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly license: string;
  readonly exports: Readonly<Record<string, string>>;
}

export interface Library {
  /** What is to be published, relative to the repository's root. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
}

const SOURCE = "packages/rockbot";
const FOLDER = "dist/npm/rockbot";
/** What Node 22.19 lacks is added or put in other words; older ones lack more. */
const NODE = ">=22.19";
/**
 * Programs that want what needs them install them beside, with all that only this entry imports. The last one is found
 * by its name.
 */
const OPTIONAL = ["ioredis", "@ai-sdk/anthropic", "@ai-sdk/openai-compatible", "@ai-sdk/provider", "zod", "pdfjs-dist"];
const OPTIONAL_ENTRY = "services";
/** A program of that entry that runs in a process of its own. */
const PROGRAM = { "page-process-main": "packages/page/src/page-process-main.ts" };
/** Whose own parts are used, too: another version may have others. */
const EXACT = ["amqplib"];

/**
 * Makes the package that is published: one, so that there is one version, one class of each error, and no name that is
 * only there for our own packages. What needs a library that not everybody has is a subpath. The command comes along.
 * @param repository where the sources are, as `git+https://…`, which a registry compares with the provenance
 */
export async function buildLibrary(
  root: string,
  { repository }: { readonly repository?: string | undefined } = {},
): Promise<Library> {
  const [own, main, workspace] = await Promise.all([
    readJson(join(root, SOURCE, "package.json")),
    readJson(join(root, "package.json")),
    readFile(join(root, "pnpm-workspace.yaml"), "utf8").then(
      (text) => parse(text) as { readonly catalog: Readonly<Record<string, string>> },
    ),
  ]);
  const folder = join(root, FOLDER);
  const entries = Object.entries(own.exports).map(([path, source]) => ({
    path,
    source: join(SOURCE, source),
    name: path === "." ? "index" : path.slice(2),
  }));
  const sources = Object.fromEntries(entries.map(({ name, source }) => [name, source]));
  const { [OPTIONAL_ENTRY]: _optional, ...always } = sources;
  const needed = await bundleLibrary(root, join(folder, "dist"), always);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const [imported, named] = await Promise.all([
    bundleLibrary(root, join(folder, "dist"), { ...sources, ...PROGRAM }),
    declareLibrary(
      root,
      join(folder, "dist/types"),
      entries.map(({ source }) => source),
    ),
    addCommand(root, folder, main.version),
    copyFile(join(root, "LICENSE"), join(folder, "LICENSE")),
    copyFile(join(root, SOURCE, "README.md"), join(folder, "README.md")),
  ]);
  const unknown = named.filter((name) => !imported.includes(name));
  if (unknown.length > 0)
    throw new Error(
      `Cannot build ${own.name}: its declarations need ${unknown.join(", ")}, which its code does not import`,
    );

  const optional = [...new Set([...OPTIONAL, ...imported.filter((name) => !needed.includes(name))])];
  const range = (name: string): string => `${EXACT.includes(name) ? "" : "^"}${workspace.catalog[name]}`;
  const ranges = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, range(name)]));
  const manifest = {
    name: own.name,
    version: main.version,
    description: main.description,
    license: main.license,
    ...(repository === undefined ? {} : { repository: { type: "git", url: repository } }),
    type: "module",
    sideEffects: false,
    engines: { node: NODE },
    bin: BIN,
    exports: {
      ...Object.fromEntries(
        entries.map(({ path, name }) => [
          path,
          { types: `./dist/types/rockbot/src/${name}.d.ts`, default: `./dist/${name}.js` },
        ]),
      ),
      "./package.json": "./package.json",
    },
    files: ["dist"],
    dependencies: ranges(imported.filter((name) => !optional.includes(name))),
    peerDependencies: { ...ranges(optional), "@types/node": NODE },
    peerDependenciesMeta: Object.fromEntries([...optional, "@types/node"].map((name) => [name, { optional: true }])),
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
  return { folder: FOLDER, name: own.name, version: main.version };
}

async function readJson(file: string): Promise<Manifest> {
  return JSON.parse(await readFile(file, "utf8")) as Manifest;
}
