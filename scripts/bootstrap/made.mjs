import { createHash } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { delimiter, join, relative } from "node:path";
import { runChild } from "./run-child.mjs";
import { withLock } from "./with-lock.mjs";

/**
 * What is made from files of the checkout, and is not in git.
 *
 * @typedef {object} Product
 * @property {string} stamp - says from what it was made, and what was made
 * @property {string} attempt - what is tried, for the words of a failure
 * @property {string} words - for people, while it is made
 * @property {string} cwd
 * @property {readonly string[]} args - of Node
 * @property {(root: string) => Promise<string[]>} inputs - none where it is not made; all that is read and run for it, with the versions of libraries
 * @property {(root: string) => Promise<string[]>} outputs
 */

/** @type {Product} */
const CODE = {
  stamp: ".tools/generated",
  attempt: "generate",
  words: "generating code from the schemas",
  cwd: ".",
  args: ["scripts/generate-code.ts"],
  inputs: inputsOfCode,
  outputs: async (root) => {
    const owners = [...(await filesIn(root, "packages")), ...(await filesIn(root, "services"))];
    return (await Promise.all(owners.map((owner) => filesIn(root, `${owner}/src/generated`)))).flat();
  },
};

/** @type {Product} */
const CONSOLE = {
  stamp: ".tools/console",
  attempt: "build the console",
  words: "building the console's page",
  cwd: "packages/console",
  args: ["node_modules/vite/bin/vite.js", "build", "--logLevel", "error"],
  inputs: async (root) => {
    const files = await Promise.all(["public", "src"].map((folder) => filesBelow(root, `packages/console/${folder}`)));
    if (files.flat().length === 0) return []; // a checkout without it, as of an image of another service
    const settings = ["index.html", "tsconfig.json", "vite.config.ts"].map((name) => `packages/console/${name}`);
    return [
      "pnpm-lock.yaml",
      "tsconfig.json",
      ...settings,
      ...files.flat().filter((file) => !/\.test\.tsx?$/.test(file)),
    ];
  },
  outputs: async (root) => [
    ...(await filesIn(root, "packages/console/dist")),
    ...(await filesIn(root, "packages/console/dist/assets")),
  ],
};

/**
 * Makes the generated code and the console's page, which git does not hold, unless they are there as they were made
 * last, of the very files that they would be made of now.
 *
 * @param {string} root
 * @param {{ node: string | undefined }} folders - of the tools, undefined where PATH has them
 * @returns {Promise<void>}
 * @throws {SetupError} if a schema cannot be used: nothing is loaded then that is made of it
 */
export async function keepMade(root, { node }) {
  const products = [CODE, CONSOLE];
  const areFresh = await Promise.all(products.map((product) => isFresh(root, product)));
  for (const [index, product] of products.entries()) if (!areFresh[index]) await make(root, product, node);
}

/**
 * @param {string} root
 * @param {Product} product
 * @param {string | undefined} node
 */
async function make(root, product, node) {
  await withLock(join(root, ".tools/lock"), async () => {
    if (await isFresh(root, product)) return; // who held the lock before has made it
    process.stderr.write(`rockbot: ${product.words}\n`);
    const inputs = await fingerprintOfInputs(root, await product.inputs(root)); // taken before, so that a file changed meanwhile is seen the next time
    await runChild(product.attempt, "node", product.args, {
      cwd: join(root, product.cwd),
      deadlineMs: 600_000,
      env: { ...process.env, PATH: [node, process.env.PATH].filter(Boolean).join(delimiter) },
      advice: "Mend it, then run the same command again.",
    });
    await writeFile(join(root, product.stamp), `${inputs} ${await fingerprintOfOutputs(root, product)}`);
  });
}

/**
 * @param {string} root
 * @param {Product} product
 */
async function isFresh(root, product) {
  const inputs = await product.inputs(root);
  if (inputs.length === 0) return true;
  const [stamp, ...current] = await Promise.all([
    readFile(join(root, product.stamp), "utf8").catch(() => undefined),
    fingerprintOfInputs(root, inputs),
    fingerprintOfOutputs(root, product),
  ]);
  return stamp === current.join(" ");
}

/**
 * @param {string} root
 * @param {readonly string[]} files
 */
const fingerprintOfInputs = (root, files) => fingerprint(files, (file) => readFile(join(root, file)));

/**
 * By time and size, as they are large.
 *
 * @param {string} root
 * @param {Product} product
 */
async function fingerprintOfOutputs(root, { outputs }) {
  return fingerprint(await outputs(root), async (file) => {
    const { mtimeMs, size } = await stat(join(root, file));
    return `${mtimeMs} ${size}`;
  });
}

/**
 * @param {readonly string[]} files
 * @param {(file: string) => Promise<string | Buffer>} read
 */
async function fingerprint(files, read) {
  const texts = await Promise.all(files.map((file) => read(file).catch(() => "")));
  const hash = createHash("sha256");
  for (const [index, file] of files.entries()) hash.update(`\0${file}\0`).update(texts[index] ?? "");
  return hash.digest("hex");
}

/**
 * What scripts/generate-code.ts reads and runs, with the versions of its libraries.
 *
 * @param {string} root
 * @returns {Promise<string[]>}
 */
async function inputsOfCode(root) {
  const folders = [
    "packages/contracts/schema",
    "packages/contracts/schema/tools",
    "packages/contracts/schema/service",
    "packages/policy/src/facets",
    "packages/sandbox/src/job",
    "packages/sandbox/src/local",
    "packages/sandbox/src/supervisor/program",
    "services/scripts-manager/src/calls",
    "services/scripts-manager/src/packages/installer",
    "scripts/generate",
    ...(await filesIn(root, "services")),
  ];
  const inFolders = await Promise.all(folders.map((folder) => filesIn(root, folder)));
  return [
    "packages/contracts/src/faults/describe-faults.ts",
    "packages/contracts/src/faults/mask-likely-secrets.ts",
    "packages/contracts/src/json/value-at.ts",
    "packages/contracts/src/names.ts",
    "packages/policy/policy.schema.yaml",
    "packages/policy/src/document/document-place.ts",
    "packages/policy/src/tool-glob.ts",
    "pnpm-lock.yaml",
    "scripts/generate-code.ts",
    "services/define-service.ts",
    "services/index.ts",
    "services/settings.yaml",
    "services/state.ts",
    ...inFolders
      .flat()
      .filter((file) =>
        /\.(schema\.yaml|py)$|^packages\/contracts\/|^(scripts|packages\/policy)\/.*(?<!\.test)\.ts$/.test(file),
      ),
  ];
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {Promise<string[]>} their paths; none if there is no such folder
 */
async function filesIn(root, folder) {
  return (await readdir(join(root, folder)).catch(() => [])).sort().map((name) => `${folder}/${name}`);
}

/**
 * Files of a folder and of all folders below it, from the root.
 *
 * @param {string} root
 * @param {string} folder
 * @returns {Promise<string[]>} sorted; none where there is no such folder
 */
async function filesBelow(root, folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(root, join(parentPath, name))).sort();
}
