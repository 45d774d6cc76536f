import { existsSync, globSync, readFileSync } from "node:fs";
import { cp, realpath, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type BuildOptions, build, type Metafile, type OutputFile } from "esbuild";
import { inlineGrpc } from "./inline-grpc.ts";
import { leaveOutUnused } from "./leave-out-unused.ts";
import { onlyService } from "./only-service.ts";

export interface Bundle {
  /** Relative to the repository's root, as is `file`. */
  readonly folder: string;
  /** What starts the service. */
  readonly file: string;
  /** The bytes of all files together. */
  readonly bytes: number;
  /** What is inside, as esbuild tells it. */
  readonly metafile: Metafile;
}

/**
 * Lets the garbage collector of esbuild's process run less often: a third less processor time for some hundred MiB,
 * while it lives.
 */
process.env["GOGC"] ??= "250";

/** CommonJS libraries call `require` for Node's own modules, which an ES module does not have. */
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

/**
 * Libraries that read files of their own beside their code: they come as they are, in `node_modules` beside the bundle
 * of a service that has them.
 */
const AS_THEY_ARE = ["playwright-core"];

const SERVICES = "services/main.ts";

/** The command, which is no service but comes as one, with the programs of all services that it can run. */
export const CLI = "cli";
const COMMAND: Entry = { in: "packages/cli/src/main.ts", out: "main" };

/**
 * Writes `dist/{service}/main.mjs` with what the service of the list, or the command, needs at its start, and the like
 * beside it for each program that runs in a process of its own: of any `{name}-main.ts` in `src` of the service, or of
 * a package that its manifest names, `{name}-main.mjs`. What they load later comes in further files beside these.
 *
 * @param folder relative to `root`: another one, if it is not to be `dist/{service}`
 * @throws {Error} if a module is missing or cannot be bundled; esbuild has said on stderr which. Also if the command
 * loads a CommonJS library later
 */
export async function bundleService(root: string, service: string, folder = `dist/${service}`): Promise<Bundle> {
  await rm(join(root, folder), { recursive: true, force: true }); // the names of further files follow from what they hold
  const metafile =
    service === CLI ? await bundleTogether(root, folder, [COMMAND]) : await bundleAlone(root, folder, service);
  const lost = Object.values(metafile.outputs).flatMap(({ entryPoint = "" }) =>
    metafile.inputs[entryPoint]?.format === "cjs" ? entryPoint : [],
  );
  if (lost.length > 0)
    throw new Error(
      `Cannot bundle ${service}: a file of its own gives no names of ${lost.join(", ")}. Import it in a module that you load`,
    );
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
  return { folder, file: `${folder}/main.mjs`, bytes, metafile };
}

async function bundleAlone(root: string, folder: string, service: string): Promise<Metafile> {
  const settings = settingsFor(root, folder);
  const { metafile } = await build({
    ...settings,
    entryPoints: [{ in: SERVICES, out: "main" }],
    plugins: [...settings.plugins, onlyService(service)],
  });
  const programs = programsOf(root, service);
  for (const program of programs) await addProgram(metafile, root, { folder, program });
  for (const library of AS_THEY_ARE) await copyLibrary(root, library, { service, folder });
  if (programs.some((program) => program.endsWith(PAGES))) await copyMaps(root, folder);
  if (service === "gateway") await copyConsole(root, folder);
  return metafile;
}

/** A program in the sources, and the name of its file in the bundle, without its extension. */
interface Entry {
  readonly in: string;
  readonly out: string;
}

/** The programs of all services and of the command beside `mains`: all of them share what they have in common. */
async function bundleTogether(root: string, folder: string, mains: readonly Entry[]): Promise<Metafile> {
  const programs = [...programsOf(root, "*"), ...mainsIn(root, ["packages/cli"])];
  const { metafile } = await build({
    ...settingsFor(root, folder),
    entryPoints: [...mains, ...programs.map(entryOf)],
  });
  await copyMaps(root, folder);
  await copyConsole(root, folder);
  return metafile;
}

/**
 * Writes programs of the repository into the folder, as images have them: `services/main.ts` as `services-main.mjs`.
 * @param programs paths in the repository
 */
export async function bundlePrograms(root: string, folder: string, programs: readonly string[]): Promise<void> {
  const mains = programs.map((path) => ({ in: path, out: path.replace(/\.ts$/, "").replaceAll("/", "-") }));
  await bundleTogether(root, folder, mains);
}

async function copyLibrary(
  root: string,
  library: string,
  { service, folder }: { readonly service: string; readonly folder: string },
): Promise<void> {
  const from = await realpath(join(root, "services", service, "node_modules", library)).catch(() => undefined);
  if (from !== undefined) await cp(from, join(root, folder, "node_modules", library), { recursive: true });
}

/** The program that converts pages, which finds Adobe's maps of characters by the name of their package. */
const PAGES = "packages/page/src/page-process-main.ts";

async function copyMaps(root: string, folder: string): Promise<void> {
  const from = await realpath(join(root, "packages/page/node_modules/pdfjs-dist"));
  for (const part of ["package.json", "LICENSE", "cmaps"])
    await cp(join(from, part), join(root, folder, "node_modules/pdfjs-dist", part), { recursive: true });
}

/** The console's page, which `consoleFiles` of packages/console finds beside the bundle. */
async function copyConsole(root: string, folder: string): Promise<void> {
  const built = join(root, "packages/console/dist");
  if (!existsSync(built))
    throw new Error('Cannot bundle the console: its page has not been built. "./rockbot --version" builds it');
  await cp(built, join(root, folder, "console"), { recursive: true });
}

/** A program of a process of its own, as files in memory. */
interface Program {
  readonly files: readonly OutputFile[];
  readonly metafile: Metafile;
}

/**
 * By their files: several services have the program that converts pages, and its library for PDFs takes longer than
 * most services.
 */
const programsMade = new Map<string, Promise<Program>>();

async function makeProgram(root: string, file: string): Promise<Program> {
  const { outputFiles, metafile } = await build({
    ...settingsFor(root, "dist"),
    entryPoints: [entryOf(file)],
    write: false,
  });
  return { files: outputFiles, metafile };
}

/** Writes a program into a service's folder, and what is inside into the metafile of its bundle. */
async function addProgram(
  metafile: Metafile,
  root: string,
  { folder, program }: { readonly folder: string; readonly program: string },
): Promise<void> {
  const path = join(root, program);
  const making = programsMade.get(path) ?? makeProgram(root, program);
  programsMade.set(path, making);
  const made = await making;
  await Promise.all(
    made.files.map(({ path: file, contents }) => writeFile(join(root, folder, basename(file)), contents)),
  );
  for (const [file, output] of Object.entries(made.metafile.outputs))
    metafile.outputs[`${folder}/${basename(file)}`] = output;
  Object.assign(metafile.inputs, made.metafile.inputs);
}

const entryOf = (program: string): Entry => ({ in: program, out: basename(program, ".ts") });

const settingsFor = (root: string, folder: string) =>
  ({
    absWorkingDir: root,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true, // what is loaded later is no part of what each start reads
    external: AS_THEY_ARE,
    platform: "node",
    target: "node24",
    format: "esm",
    banner: { js: REQUIRE },
    plugins: [inlineGrpc, leaveOutUnused],
    mainFields: ["module", "main"],
    sourcemap: false,
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    keepNames: true, // error names and class names go into logs
    legalComments: "eof", // the licences that libraries ask to be kept
    metafile: true,
    logLevel: "warning",
  }) as const satisfies BuildOptions;

/** The programs that the services that `glob` finds run in processes of their own. */
const programsOf = (root: string, glob: string): string[] => mainsIn(root, foldersOf(root, glob));

const mainsIn = (root: string, owners: readonly string[]): string[] =>
  globSync(
    owners.map((owner) => `${owner}/src/**/*-main.ts`),
    { cwd: root },
  );

/** The folders of the services that `glob` finds, and of the packages that they name. */
function foldersOf(root: string, glob: string): string[] {
  const folders = globSync(`services/${glob}/package.json`, { cwd: root }).map(dirname);
  const packages = folders.flatMap((folder) => {
    const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as {
      readonly dependencies?: object;
    };
    return Object.keys(dependencies).flatMap((name) =>
      name.startsWith("@rockbot/") ? `packages/${name.slice("@rockbot/".length)}` : [],
    );
  });
  return [...new Set([...folders, ...packages])];
}
