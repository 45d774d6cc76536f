import { lstat, readlink } from "node:fs/promises";
import { join } from "node:path";
import { PACKAGES_FOLDER } from "../layer/package-layer.ts";
import type { Python } from "./find-python.ts";

/** What of the machine's files a sandbox sees, read-only. */
export interface SandboxTree {
  readonly binds: readonly (readonly [outside: string, inside: string])[];
  readonly links: readonly (readonly [target: string, path: string])[];
  /** The same as `binds`, to be written to. */
  readonly writable: readonly (readonly [outside: string, inside: string])[];
}

/** A folder, or a file, of the machine that one sandbox sees. */
export interface SandboxFolder {
  readonly outside: string;
  /** Below a folder at the root that the machine's programs do not have. */
  readonly inside: string;
  readonly isWritable: boolean;
}

/** Programs and libraries, and nothing that is anybody's: no home, no settings, no state. */
const SYSTEM = [
  "/usr/bin",
  "/usr/lib",
  "/usr/lib32",
  "/usr/lib64",
  "/usr/libx32",
  "/usr/share/zoneinfo",
  "/etc/ld.so.cache",
  "/etc/alternatives",
];
/** Folders, or links into /usr where the system has merged them. */
const ROOT = ["/bin", "/lib", "/lib32", "/lib64", "/libx32"];
const SHARED_PREFIXES: ReadonlySet<string> = new Set(["/", "/usr", "/usr/local"]);

export async function sandboxTree({ prefixes }: Python, packagesFolder: string | undefined): Promise<SandboxTree> {
  const own = prefixes.flatMap((prefix) =>
    SHARED_PREFIXES.has(prefix) ? [join(prefix, "bin"), join(prefix, "lib")] : [prefix],
  );
  const folders: string[] = [];
  const links: [string, string][] = [["/tmp/out", "/out"]]; // what a script leaves: see files.py
  for (const path of [...SYSTEM, ...ROOT, ...own]) {
    if (
      folders.some((folder) => path === folder || path.startsWith(`${folder}/`)) ||
      links.some(([, link]) => path === link)
    )
      continue;
    const found = await lstat(path).catch(() => undefined);
    if (found?.isSymbolicLink() === true && ROOT.includes(path)) links.push([await readlink(path), path]);
    else if (found !== undefined) folders.push(path);
  }
  const packages: [string, string][] = packagesFolder === undefined ? [] : [[packagesFolder, PACKAGES_FOLDER]];
  return { binds: [...folders.map((folder): [string, string] => [folder, folder]), ...packages], links, writable: [] };
}

/** What a sandbox sees that has further folders. */
export function withFolders({ binds, links, writable }: SandboxTree, folders: readonly SandboxFolder[]): SandboxTree {
  const further = (isWritten: boolean) =>
    folders
      .filter(({ isWritable }) => isWritable === isWritten)
      .map(({ outside, inside }): [string, string] => [outside, inside]);
  return { binds: [...binds, ...further(false)], links, writable: [...writable, ...further(true)] };
}
