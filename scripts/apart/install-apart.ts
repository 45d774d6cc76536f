import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
}

const INSTALL_MS = 300_000;
const root = dirname(dirname(import.meta.dirname));

/**
 * Installs what the `package.json` of a folder outside the workspace names, unless it is there: what one command alone
 * needs, and the start of RockBot shall not wait for.
 * @returns the versions
 */
export async function installApart(folder: string): Promise<Readonly<Record<string, string>>> {
  const { dependencies } = await readManifest(folder);
  const wanted = Object.keys(dependencies ?? {});
  const isThere = async (): Promise<boolean> => {
    const manifests = await Promise.all(
      wanted.map((name) => readManifest(join(folder, "node_modules", name)).catch(() => undefined)),
    );
    return manifests.every((manifest, index) => manifest?.version === dependencies?.[wanted[index] ?? ""]);
  };
  if (!(await isThere())) {
    process.stderr.write(`Installing ${wanted.join(", ")} ...\n`);
    await runPnpm(folder, ["install", "--no-lockfile", "--ignore-scripts"]);
  }
  return dependencies ?? {};
}

/** Runs the pnpm on PATH, or else one that npm brings in for the moment. */
async function runPnpm(cwd: string, args: readonly string[]): Promise<void> {
  const run = promisify(execFile);
  try {
    await run("pnpm", args, { cwd, timeout: INSTALL_MS });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const { engines } = await readManifest(root);
    await run("npm", ["exec", "--yes", "--", `pnpm@${engines?.["pnpm"]}`, ...args], { cwd, timeout: INSTALL_MS });
  }
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;
}
