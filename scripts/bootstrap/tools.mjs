import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runChild } from "./run-child.mjs";
import { SetupError } from "./setup-error.mjs";

/**
 * @typedef {{ node: string, pnpm: string }} WantedTools exact versions: what is brought in where the machine has
 * nothing fitting
 */

const NODE_PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"];
const platform = `${process.platform}-${process.arch}`;

/**
 * @param {string} root
 * @returns {Promise<WantedTools>}
 */
export async function readWantedTools(root) {
  const [nodeVersion, manifest] = await Promise.all([
    readFile(join(root, ".node-version"), "utf8"),
    readFile(join(root, "package.json"), "utf8"),
  ]);
  return { node: nodeVersion.trim(), pnpm: JSON.parse(manifest).engines.pnpm };
}

/**
 * The folder of a Node that is new enough: the one that runs this, else the one brought in earlier.
 *
 * @param {string} root
 * @param {WantedTools} wanted
 * @returns {string | undefined}
 */
export function findNode(root, wanted) {
  if (Number.parseInt(process.versions.node, 10) >= Number.parseInt(wanted.node, 10)) return dirname(process.execPath);
  const folder = join(root, nodeFolder(wanted), `node_modules/node-${platform}/bin`);
  return existsSync(join(folder, "node")) ? folder : undefined;
}

/**
 * The folder of the pnpm brought in earlier.
 *
 * @param {string} root
 * @param {WantedTools} wanted
 * @returns {string | undefined}
 */
export function findPnpm(root, wanted) {
  const folders = [platform, `${platform}-musl`].map((name) =>
    join(root, pnpmFolder(wanted), `node_modules/@pnpm/exe.${name}`),
  );
  return folders.find((folder) => existsSync(join(folder, "pnpm")));
}

/**
 * Brings from npm into `.tools` what is missing: Node, and pnpm unless PATH has the very version that package.json asks
 * for.
 *
 * @param {string} root
 * @param {WantedTools} wanted
 * @param {{ isPnpmNeeded: boolean }} options
 * @returns {Promise<void>}
 */
export async function installTools(root, wanted, { isPnpmNeeded }) {
  const missing = [];
  if (findNode(root, wanted) === undefined)
    missing.push({
      title: `Node ${wanted.node}`,
      folder: nodeFolder(wanted),
      spec: `node-${nodePlatform(wanted)}@${wanted.node}`,
    });
  if (isPnpmNeeded && findPnpm(root, wanted) === undefined && (await versionOnPath("pnpm", root)) !== wanted.pnpm) {
    missing.push({
      title: `pnpm ${wanted.pnpm}`,
      folder: pnpmFolder(wanted),
      spec: `@pnpm/exe.${platform}${isMusl() ? "-musl" : ""}@${wanted.pnpm}`,
    });
  }
  if (missing.length === 0) return;
  process.stderr.write(
    `rockbot: bringing ${missing.map(({ title }) => title).join(" and ")} from npm into ${join(root, ".tools")}, for this project only\n`,
  );
  const results = await Promise.allSettled(missing.map((tool) => installTool(root, tool)));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/**
 * @param {string} root
 * @param {{ title: string, folder: string, spec: string }} tool
 */
async function installTool(root, { title, folder, spec }) {
  const [target, unfinished] = [join(root, folder), join(root, `${folder}.unfinished`)];
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  // Said in full, since a setting in the caller's npm environment (npm_config_*) would else hold here too.
  const where = ["--prefix", unfinished, "--global=false", "--workspaces=false", "--dry-run=false"];
  const how = [
    "--ignore-scripts",
    "--no-save",
    "--no-package-lock",
    "--no-audit",
    "--no-fund",
    "--install-strategy=hoisted",
    "--loglevel=error",
  ];
  const patience = ["--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];
  await runChild(`bring in ${title}`, "npm", ["install", ...where, ...how, ...patience, spec], {
    cwd: unfinished,
    deadlineMs: 600_000,
    advice: `Check the network and npm's registry setting, or put ${title} on PATH yourself.`,
  });
  await checkHash(root, unfinished, { title, spec });
  await rm(target, { recursive: true, force: true });
  await rename(unfinished, target); // so that a folder of this name is always whole
}

/**
 * npm has held the package against the hash that its registry names. The hash has to be ours, where `hashes.json` has
 * one.
 *
 * @param {string} root
 * @param {string} folder
 * @param {{ title: string, spec: string }} tool
 */
async function checkHash(root, folder, { title, spec }) {
  const expected = JSON.parse(await readFile(join(root, "scripts/bootstrap/hashes.json"), "utf8"))[spec];
  if (expected === undefined) return;
  const { packages } = JSON.parse(await readFile(join(folder, "node_modules/.package-lock.json"), "utf8"));
  const got = packages[`node_modules/${spec.slice(0, spec.lastIndexOf("@"))}`]?.integrity;
  if (got === expected) return;
  await rm(folder, { recursive: true, force: true });
  throw new SetupError(
    `Cannot bring in ${title}: npm has ${spec} with the hash ${got}, and scripts/bootstrap/hashes.json expects ${expected}. Do not use it.`,
  );
}

/**
 * @param {string} command
 * @param {string} cwd
 * @returns {Promise<string | undefined>}
 */
function versionOnPath(command, cwd) {
  // Corepack's shim of the same name would fetch a pnpm of its choice: it is asked not to.
  const env = { ...process.env, COREPACK_ENABLE_NETWORK: "0" };
  return new Promise((resolve) => {
    execFile(command, ["--version"], { cwd, env, timeout: 10_000 }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim()),
    );
  });
}

/** @param {WantedTools} wanted */
const nodeFolder = (wanted) => `.tools/node-${wanted.node}-${platform}`;
/** @param {WantedTools} wanted */
const pnpmFolder = (wanted) => `.tools/pnpm-${wanted.pnpm}-${platform}`;

/** @param {WantedTools} wanted */
function nodePlatform(wanted) {
  if (NODE_PLATFORMS.includes(platform) && !isMusl()) return platform;
  throw new SetupError(
    `Cannot bring in Node ${wanted.node}: npm has none for ${platform}${isMusl() ? " with musl" : ""}. Install Node ${wanted.node} or newer yourself.`,
  );
}

/**
 * Tells whether this Linux has musl instead of glibc, whose version a report of Node names. Such a report takes time to
 * make.
 */
function isMusl() {
  return process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
}
