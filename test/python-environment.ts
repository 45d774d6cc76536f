import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = join(import.meta.dirname, "../node_modules/.cache/python");
/** What the pinned libraries ask for. */
const OLDEST = [3, 11] as const;
/** What pip may take to bring some megabytes. */
const INSTALL_MS = 120_000;

/** A Python with the libraries of a requirements file, or why there is none. */
export type PythonEnvironment = { readonly python: string } | { readonly missing: string };

/** Made once for each requirements file and version of Python, below node_modules. */
export async function pythonEnvironment(requirements: string): Promise<PythonEnvironment> {
  const version = await run("python3", ["-c", "import sys; print(*sys.version_info[:2])"]).then(
    ({ stdout }) => stdout.trim().split(" ").map(Number) as [number, number],
    () => undefined,
  );
  if (version === undefined) return { missing: "there is no python3" };
  if (version[0] < OLDEST[0] || (version[0] === OLDEST[0] && version[1] < OLDEST[1]))
    return { missing: `python3 is ${version.join(".")}, not ${OLDEST.join(".")} or newer` };
  const name = createHash("sha256")
    .update(`${version} ${await readFile(requirements, "utf8")}`)
    .digest("hex")
    .slice(0, 16);
  const folder = join(CACHE, name);
  const python = join(folder, "bin/python");
  const isReady = () => existsSync(join(folder, "ready"));
  if (isReady()) return { python };
  await mkdir(CACHE, { recursive: true });
  await using _turn = await turnFor(folder);
  if (isReady()) return { python }; // another test file has made it meanwhile
  try {
    await rm(folder, { recursive: true, force: true }); // what an installation that was cut off has left
    await run("python3", ["-m", "venv", folder], { timeout: INSTALL_MS });
    await run(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements], {
      timeout: INSTALL_MS,
    });
    await mkdir(join(folder, "ready"));
    return { python };
  } catch (error) {
    await rename(folder, `${folder}.failed`).catch(() => {});
    await rm(`${folder}.failed`, { recursive: true, force: true });
    return {
      missing: `pip cannot install its libraries (${String((error as { readonly stderr?: unknown }).stderr ?? error)
        .trim()
        .split("\n")
        .at(-1)})`,
    };
  }
}

/** So long after its beginning an installation was cut off. */
const STALE_MS = 2 * INSTALL_MS;
const LOOK_MS = 200;

/** Test files run side by side: one at a time makes a folder. */
async function turnFor(folder: string): Promise<AsyncDisposable> {
  const lock = `${folder}.lock`;
  const end = { [Symbol.asyncDispose]: () => rm(lock, { recursive: true, force: true }) };
  for (;;) {
    const isOurs = await mkdir(lock).then(
      () => true,
      () => false,
    );
    if (isOurs) return end;
    const since = await stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - since > STALE_MS) await end[Symbol.asyncDispose]();
    else await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
