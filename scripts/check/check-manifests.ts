import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

interface Manifest {
  readonly name: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/**
 * Each library has one exact version, in the catalog; each package names it by `catalog:`, and ours by `workspace:*`.
 * RockBot has one version, in the manifest at the root. The lockfile holds hashes and no addresses, so that it is the
 * same behind every registry.
 *
 * @returns a line that says what was looked at
 * @throws {Error} with one line for each fault
 */
export async function checkManifests(root: string): Promise<string> {
  const workspace = parse(await readFile(join(root, "pnpm-workspace.yaml"), "utf8")) as {
    readonly catalog: Readonly<Record<string, string>>;
  };
  const lockfile = await readFile(join(root, "pnpm-lock.yaml"), "utf8");
  const files = [
    "package.json",
    ...globSync(["packages/*/package.json", "services/*/package.json", "examples/package.json"], { cwd: root }),
  ];
  const manifests = await Promise.all(
    files.map(async (file) => ({ file, manifest: JSON.parse(await readFile(join(root, file), "utf8")) as Manifest })),
  );
  const used = manifests.flatMap(({ file, manifest }) =>
    Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).map(([name, version]) => ({
      file,
      name,
      version,
    })),
  );
  const addresses = lockfile.split("\n").filter((line) => /https?:|tarball:/.test(line));

  const faults = [
    ...Object.entries(workspace.catalog).flatMap(([name, version]) => [
      ...(/^(npm:[\w@/-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)
        ? []
        : [`pnpm-workspace.yaml: ${name} is at "${version}": write one exact version`]),
      ...(used.some((use) => use.name === name)
        ? []
        : [`pnpm-workspace.yaml: no package uses ${name}: remove it from the catalog`]),
    ]),
    ...used.flatMap(({ file, name, version }) => {
      const wanted = /^(@rockbot\/.+|rockbot)$/.test(name) ? "workspace:*" : "catalog:";
      return version === wanted ? [] : [`${file}: ${name} is at "${version}": write "${wanted}"`];
    }),
    ...manifests.flatMap(({ file, manifest }) =>
      file === "package.json" || manifest.version === undefined
        ? []
        : [`${file}: remove its version: all of RockBot has that of package.json at the root`],
    ),
    ...addresses.map(
      (line) =>
        `pnpm-lock.yaml: "${line.trim()}" holds the address of a registry: install once more with the registry's addresses left out`,
    ),
  ];
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return `${files.length} manifests, ${Object.keys(workspace.catalog).length} libraries`;
}
