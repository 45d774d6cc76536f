import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { runChild } from "./run-child.mjs";

/** Lies in node_modules, so that it goes when they go. */
const STAMP = "node_modules/.rockbot-stamp";

/**
 * Tells whether node_modules are those of the lockfile and of every package.json as they are now.
 *
 * @param {string} root
 * @returns {Promise<boolean>}
 */
export async function areDependenciesInstalled(root) {
  const stamp = await readFile(join(root, STAMP), "utf8").catch(() => undefined);
  return stamp !== undefined && stamp === (await fingerprint(root));
}

/**
 * Installs what the lockfile holds. Where a package.json asks for more, as after a new package in the workspace, the
 * lockfile is brought up to date first; in CI (the variable `CI`) that is a fault.
 *
 * @param {string} root
 * @param {{ node: string | undefined, pnpm: string | undefined }} folders - of the tools, undefined where PATH has them
 * @returns {Promise<void>}
 * @throws {SetupError}
 */
export async function installDependencies(root, folders) {
  process.stderr.write("rockbot: installing the dependencies of the lockfile into node_modules\n");
  let before = await fingerprint(root);
  try {
    await install(root, folders, "--frozen-lockfile");
  } catch (error) {
    if (process.env.CI || !OUTDATED.test(String(error.message))) throw error;
    process.stderr.write(
      "rockbot: a package.json asks for more than pnpm-lock.yaml holds: the lockfile is brought up to date. Commit it, too\n",
    );
    await install(root, folders, "--no-frozen-lockfile");
    before = await fingerprint(root);
  }
  await writeFile(join(root, STAMP), before); // taken before, so that a file changed meanwhile is seen the next time
}

/** A manifest has changed, or the workspace has a new package. */
const OUTDATED = /ERR_PNPM_(OUTDATED_LOCKFILE|PACKAGE_MANAGER_NO_IMPORTER|LOCKFILE_CONFIG_MISMATCH)/;

/**
 * @param {string} root
 * @param {{ node: string | undefined, pnpm: string | undefined }} folders
 * @param {string} lockfile - the flag that says whether it may change
 */
function install(root, folders, lockfile) {
  const registry = process.env.npm_config_registry ?? process.env.NPM_CONFIG_REGISTRY; // pnpm reads .npmrc, and not these
  const flags = [lockfile, "--prod=false", "--reporter=append-only", "--config.confirm-modules-purge=false"];
  return runChild("install the dependencies", "pnpm", ["install", ...flags], {
    cwd: root,
    deadlineMs: 600_000,
    advice: (fault) =>
      OUTDATED.test(fault)
        ? "A package.json asks for other dependencies than pnpm-lock.yaml holds: run any command without CI=true, and commit the lockfile with it."
        : "Where the network is at fault, check it and npm's registry setting, then run the same command again.",
    env: {
      ...process.env,
      ...(registry === undefined ? {} : { pnpm_config_registry: registry }),
      PATH: [folders.node, folders.pnpm, process.env.PATH].filter(Boolean).join(delimiter),
    },
  });
}

/**
 * @param {string} root
 * @returns {Promise<string>}
 */
async function fingerprint(root) {
  const folders = ["packages", "services"];
  const packages = await Promise.all(
    folders.map((folder) =>
      readdir(join(root, folder)).then((names) => names.sort().map((name) => `${folder}/${name}/package.json`)),
    ),
  );
  const files = ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", "examples/package.json", ...packages.flat()];
  const texts = await Promise.all(files.map((file) => readFile(join(root, file)).catch(() => undefined)));
  const hash = createHash("sha256").update(`${process.platform}-${process.arch}`); // some packages are made for one platform
  // Only what is there counts: the install makes folders of packages, such as services/node_modules, that have no
  // package.json.
  for (const [index, file] of files.entries())
    if (texts[index] !== undefined) hash.update(`\0${file}\0`).update(texts[index]);
  return hash.digest("hex");
}
