import { createHash } from "node:crypto";
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { runTool } from "../check/run-tool.ts";
import { BILL } from "../library/add-command.ts";
import { buildLibrary, type Library } from "../library/build-library.ts";
import { checkLibrary } from "../library/check-library.ts";
import { packLibrary } from "../library/pack-library.ts";

export interface MadeRelease {
  readonly library: Library;
  /** The package for npm, relative to the repository's root. */
  readonly tarball: string;
  /** All files, relative to RELEASE_FOLDER. */
  readonly files: readonly string[];
  /** What this machine could not make, and why, in words. */
  readonly missing: readonly string[];
}

/** What a release leaves, relative to the repository's root. */
export const RELEASE_FOLDER = "dist/release";

/** The sums of all other files there, as sha256sum reads them: who signs this file signs them all. */
const SUMS = "SHA256SUMS";

/**
 * Makes all that a release consists of, and publishes nothing: the package of npm and its bill of materials, the chart,
 * and what `npm run images` has said of this commit's images.
 * @param repository where the sources are, as `git+https://…`
 * @throws {Error} if anything is wrong with what was made
 */
export async function makeRelease(root: string, repository?: string): Promise<MadeRelease> {
  const folder = join(root, RELEASE_FOLDER);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "npm"), { recursive: true });
  const library = await buildLibrary(root, { repository });
  const { file } = await packLibrary(root, library);
  await checkLibrary(root, file);
  const tarball = join(RELEASE_FOLDER, "npm", basename(file));
  await copyFile(join(root, file), join(root, tarball));
  await copyFile(join(root, library.folder, BILL), join(folder, "npm", `${library.name}.sbom.cdx.json`));
  const missing = [await addChart(root), await addImages(root)].filter((why) => why !== undefined);
  const files = await addSums(folder);
  return { library, tarball, files, missing };
}

/** @returns why there is none, or nothing */
async function addChart(root: string): Promise<string | undefined> {
  try {
    await runTool(root, "helm", ["package", "helm/rockbot", "--destination", join(RELEASE_FOLDER, "chart")]);
    return undefined;
  } catch (error) {
    if (!/ENOENT/.test((error as Error).message)) throw error;
    return "the chart: there is no helm on the PATH to pack it";
  }
}

/** @returns why there are none, or nothing */
async function addImages(root: string): Promise<string | undefined> {
  const from = join(root, "dist/images");
  const names = await readdir(from).catch((): string[] => []);
  const statement = names.find((name) => name.endsWith(".provenance.json"));
  if (statement === undefined || !names.includes("images.json"))
    return "the images: none are built. On a machine with a Docker engine, run npm run release:images -- --dry before";
  const revision = await runTool(root, "git", ["rev-parse", "HEAD"]);
  if (!(await readFile(join(from, statement), "utf8")).includes(revision))
    return "the images: those of dist/images are of another commit. Run npm run release:images -- --dry";
  await cp(from, join(root, RELEASE_FOLDER, "images"), { recursive: true });
  return undefined;
}

/** @returns all files that are there then */
async function addSums(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort();
  const sums = await Promise.all(
    files.map(async (file) => {
      const hash = createHash("sha256").update(await readFile(join(folder, file)));
      return `${hash.digest("hex")}  ${file}\n`;
    }),
  );
  await writeFile(join(folder, SUMS), sums.join(""));
  return [...files, SUMS];
}
