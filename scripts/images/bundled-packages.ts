import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Metafile } from "esbuild";
import { parse } from "yaml";

/** A package from the registry of which a bundle holds something. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** As its manifest says it. */
  readonly license: string | undefined;
  /** The lockfile's hash of its tarball, such as `sha512-…`. */
  readonly integrity: string;
  /** Its folder, relative to the repository's root. */
  readonly folder: string;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly resolution?: { readonly integrity?: string } }>>;
}

/**
 * The packages that the outputs of a bundle hold something of, by name and version.
 * @throws {Error} that names each package that pnpm-lock.yaml does not have
 */
export async function bundledPackages(root: string, { outputs }: Metafile): Promise<readonly BundledPackage[]> {
  const files = Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? file : [])),
  );
  const folders = new Set(files.flatMap((file) => packageOf(root, file) ?? []));
  const lockfile = parse(await readFile(join(root, "pnpm-lock.yaml"), "utf8")) as Lockfile;
  const faults: string[] = [];
  const found = new Map<string, BundledPackage>();
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(
      await readFile(join(root, folder, "package.json"), "utf8"),
    ) as BundledPackage;
    const integrity = lockfile.packages[`${name}@${version}`]?.resolution?.integrity;
    if (integrity === undefined) faults.push(`${folder}: pnpm-lock.yaml has no ${name}@${version}`);
    else
      found.set(`${name}@${version}`, {
        name,
        version,
        license: typeof license === "string" ? license : undefined,
        integrity,
        folder,
      });
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, bundled]) => bundled);
}

/**
 * The folder of the innermost package that holds the file. A package may bring copies of others in folders of that
 * name, without their manifests: they are part of it.
 */
function packageOf(root: string, file: string): string | undefined {
  const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0];
  if (folder === undefined || existsSync(join(root, folder, "package.json"))) return folder;
  return packageOf(root, folder.slice(0, folder.lastIndexOf("node_modules/")));
}
