import { type ExecFileException, execFile } from "node:child_process";
import { access, cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "../..");
/** The oldest that the library is for. */
const OLDEST_NODE = "22.19.0";
/** Where that is kept for the next run: to unpack it takes 5 s of processor time. */
const OLDEST_FOLDER = join(root, "node_modules/.cache", `node-${OLDEST_NODE}`);
const NPM = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
/** Far above what a step takes: it ends what hangs. */
const STEP_MS = 120_000;

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Why this machine cannot install anything, or nothing if it can. */
export async function whyNoRegistry(): Promise<string | undefined> {
  const { code, output } = await run(
    "npm",
    ["view", "yaml", "version", "--loglevel=error", "--fetch-retries=0", "--fetch-timeout=20000"],
    tmpdir(),
  );
  return code === 0 ? undefined : `npm's registry cannot be reached: ${output.split("\n")[0]}`;
}

/** A program outside of the repository that has installed the library from its tarball. */
export class OutsideProject implements AsyncDisposable {
  readonly folder: string;
  #compilations = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * @param tarball of the library, relative to the repository's root
   * @param sources name -> source of each program
   */
  static async create(tarball: string, sources: Readonly<Record<string, string>>): Promise<OutsideProject> {
    const folder = await mkdtemp(join(tmpdir(), "rockbot-outside-"));
    const project = new OutsideProject(folder);
    try {
      await mkdir(join(folder, "src"));
      await Promise.all([
        project.#install(join(root, tarball)),
        bringOldestNode(),
        ...["embed-in-an-app", "agent", "shop.ts"].map((name) =>
          cp(join(root, "examples", name), join(folder, "src", name), { recursive: true }),
        ),
        ...Object.entries(sources).map(([name, source]) => writeFile(join(folder, "src", name), source)),
      ]);
    } catch (error) {
      await project[Symbol.asyncDispose]();
      throw error;
    }
    return project;
  }

  /** The names of all packages that are installed in it. */
  async installed(): Promise<readonly string[]> {
    const { output } = await run("npm", ["ls", "--all", "--parseable", "--loglevel=error"], this.folder);
    const names = output.split("\n").flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1] ?? []);
    return [...new Set(names)].sort();
  }

  /** Installs what only some programs need. */
  async installPeers(): Promise<void> {
    const { peerDependencies } = JSON.parse(
      await readFile(join(this.folder, "node_modules/rockbot/package.json"), "utf8"),
    ) as { peerDependencies: object };
    await must(
      run("npm", ["install", ...NPM, ...Object.entries(peerDependencies).map((peer) => peer.join("@"))], this.folder),
    );
  }

  /** Compiles `files` with a TypeScript, as strictly as it can be, and writes JavaScript beside. */
  async compile(typescript: string, files: readonly string[], options: object): Promise<Ran> {
    const compilerOptions = {
      target: "es2024",
      strict: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
      rootDir: "src",
      ...options,
    };
    const config = join(this.folder, `tsconfig.${++this.#compilations}.json`);
    await writeFile(config, JSON.stringify({ compilerOptions, files: files.map((file) => `src/${file}`) }));
    return run(process.execPath, [join(root, "node_modules", typescript, "bin/tsc"), "-p", config], this.folder);
  }

  /** @param node "oldest" or the one that runs the tests */
  async run(node: "oldest" | "present", args: readonly string[], env: object = {}): Promise<Ran> {
    const oldest = join(OLDEST_FOLDER, "node_modules", `node-${process.platform}-${process.arch}`, "bin/node");
    return run(node === "oldest" ? oldest : process.execPath, args, this.folder, env);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #install(tarball: string): Promise<void> {
    const { version } = JSON.parse(await readFile(join(root, "node_modules/@types/node/package.json"), "utf8")) as {
      readonly version: string;
    };
    await writeFile(
      join(this.folder, "package.json"),
      JSON.stringify({ name: "outside", version: "1.0.0", private: true, type: "module" }),
    );
    await must(run("npm", ["install", ...NPM, tarball, `@types/node@${version}`], this.folder));
  }
}

/** Installs the oldest Node, unless it is there. */
async function bringOldestNode(): Promise<void> {
  if (
    await access(OLDEST_FOLDER).then(
      () => true,
      () => false,
    )
  )
    return;
  await mkdir(dirname(OLDEST_FOLDER), { recursive: true });
  const folder = await mkdtemp(`${OLDEST_FOLDER}-`);
  try {
    const name = `node-${process.platform}-${process.arch}@${OLDEST_NODE}`;
    await must(
      run("npm", ["install", ...NPM, "--ignore-scripts", "--no-package-lock", "--prefix", folder, name], folder),
    );
    await rename(folder, OLDEST_FOLDER); // in one step, so that what is there is whole
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function must(running: Promise<Ran>): Promise<void> {
  const { code, output } = await running;
  if (code !== 0) throw new Error(output);
}

function run(program: string, args: readonly string[], cwd: string, more: object = {}): Promise<Ran> {
  const env = {
    ...process.env,
    ...more,
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
    NODE_OPTIONS: "",
    NODE_COMPILE_CACHE: "",
  };
  return new Promise((resolve) => {
    execFile(
      program,
      args,
      { cwd, env, timeout: STEP_MS, killSignal: "SIGKILL" },
      (error: ExecFileException | null, stdout, stderr) => {
        const output = `${stdout}${stderr}`.trim();
        resolve({
          code: error === null ? 0 : typeof error.code === "number" ? error.code : 1,
          output: error === null ? output : output || error.message,
        });
      },
    );
  });
}
