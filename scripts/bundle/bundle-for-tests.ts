import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { stop } from "esbuild";
import { bundlePrograms } from "./bundle-service.ts";

/** The command, any service, and what tests of faults start most. Other programs of tests start from their sources. */
const PROGRAMS = [
  "packages/cli/src/main.ts",
  "services/main.ts",
  "test/faults/agent/agent-service.ts",
  "test/faults/effects/effect-service.ts",
  "test/services/echo-service.ts",
];

/** What no run has used for so long goes. */
const KEPT_MS = 24 * 3_600_000;

/** In it each bundle has a folder named after what it holds. So runs beside each other take nothing from one another. */
const FOLDER = "node_modules/.cache/programs";

/**
 * Bundles the programs that tests start.
 * @returns the path of their folder, which is the same while they are: Node keeps compiled code by the path of its file
 */
export async function bundleForTests(root: string): Promise<string> {
  const making = join(FOLDER, `making-${randomUUID()}`);
  await mkdir(join(root, making), { recursive: true });
  try {
    await bundlePrograms(root, making, PROGRAMS);
    await stop(); // esbuild's process, which would hold its memory to the end of the run
    const folder = join(root, FOLDER, await hashOf(join(root, making)));
    await rename(join(root, making), folder).catch(() => {}); // it is there: they have not changed
    await utimes(folder, new Date(), new Date());
    await removeUnused(join(root, FOLDER));
    return folder;
  } finally {
    await rm(join(root, making), { recursive: true, force: true });
  }
}

async function hashOf(folder: string): Promise<string> {
  const hash = createHash("sha256");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".mjs")).sort();
  for (const file of files) hash.update(`${file}\n`).update(await readFile(join(folder, file)));
  return hash.digest("hex").slice(0, 16);
}

async function removeUnused(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() })); // another run has removed it
    if (mtimeMs < Date.now() - KEPT_MS) await rm(path, { recursive: true, force: true });
  }
}
