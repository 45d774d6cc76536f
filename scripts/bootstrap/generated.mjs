import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { runChild } from "./run-child.mjs";
import { withLock } from "./with-lock.mjs";

/**
 * Lies in node_modules, so that a checkout without it is one that was just made: what is committed is fresh there,
 * unless somebody has edited it since.
 */
const STAMP = "node_modules/.rockbot-generated";

/**
 * Generates anew if a schema, or what it is made with, is not what it was the last time. Where the variable CI is set
 * nothing is written: there the check finds stale files. A schema that cannot be used stops no command, as the check
 * says so.
 *
 * @param {string} root
 * @param {{ node: string | undefined }} folders - of the tools, undefined where PATH has them
 * @returns {Promise<void>}
 */
export async function keepGenerated(root, { node }) {
  if (process.env.CI || process.env.ROCKBOT_GENERATE === "off") return;
  if ((await stampOf(root)) === (await fingerprint(root))) return;
  await withLock(join(root, ".tools/lock"), () => generate(root, node));
}

/**
 * @param {string} root
 * @param {string | undefined} node
 */
async function generate(root, node) {
  const [stamp, current] = await Promise.all([stampOf(root), fingerprint(root)]); // who held the lock before may have done it
  if (stamp === undefined ? await isEdited(root) : stamp !== current) {
    process.stderr.write("rockbot: a schema has changed: generating what is made of it\n");
    try {
      await runChild("generate", "node", ["scripts/generate.ts"], {
        cwd: root,
        deadlineMs: 120_000,
        env: { ...process.env, PATH: [node, process.env.PATH].filter(Boolean).join(delimiter) },
        advice: "The command goes on with the tools of before. npm run generate shows all that is wrong.",
      });
    } catch (error) {
      process.stderr.write(`rockbot: ${error.message}\n`);
      return;
    }
  }
  await writeFile(join(root, STAMP), current);
}

/**
 * Whether a file that others are made of is not as it was committed; false where git cannot tell.
 *
 * @param {string} root
 * @returns {Promise<boolean>}
 */
async function isEdited(root) {
  const args = ["--no-optional-locks", "status", "--porcelain", "--", ...(await inputsOf(root))];
  return new Promise((resolve) =>
    execFile("git", args, { cwd: root, timeout: 30_000 }, (error, stdout) => resolve(error === null && stdout !== "")),
  );
}

/** @param {string} root */
const stampOf = (root) => readFile(join(root, STAMP), "utf8").catch(() => undefined);

/**
 * Of what generated files are made of, as far as people write it by hand.
 *
 * @param {string} root
 * @returns {Promise<string>}
 */
async function fingerprint(root) {
  const files = await inputsOf(root);
  const texts = await Promise.all(files.map((file) => readFile(join(root, file)).catch(() => "")));
  const hash = createHash("sha256");
  for (const [index, file] of files.entries()) hash.update(`\0${file}\0`).update(texts[index] ?? "");
  return hash.digest("hex");
}

/** @param {string} root */
async function inputsOf(root) {
  const services = await namesIn(root, "services");
  const folders = [
    "packages/contracts/schema",
    "packages/contracts/schema/tools",
    "packages/contracts/schema/service",
    "scripts/generate",
    "scripts/generate/pages",
    "scripts/generate/reference",
    "scripts/generate/source",
  ];
  const inFolders = await Promise.all(
    folders.map(async (folder) => (await namesIn(root, folder)).map((name) => `${folder}/${name}`)),
  );
  return [
    "helm/values.schema.yaml",
    "packages/policy/policy.schema.yaml",
    "scripts/generate.ts",
    "services/index.ts",
    "services/settings.yaml",
    ...services.flatMap((name) => [
      `services/${name}/config.schema.yaml`,
      `services/${name}/servers.schema.yaml`,
      `services/${name}/behaviors.schema.yaml`,
      `services/${name}/endpoints.schema.yaml`,
    ]),
    ...inFolders.flat(),
  ];
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {Promise<string[]>}
 */
async function namesIn(root, folder) {
  return (await readdir(join(root, folder)).catch(() => [])).sort();
}
