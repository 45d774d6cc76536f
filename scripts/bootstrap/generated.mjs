import { createHash } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { runChild } from "./run-child.mjs";
import { withLock } from "./with-lock.mjs";

/** Says from what the generated code was made, and what was made. */
const STAMP = ".tools/generated";

/**
 * Makes the generated code, which git does not hold, unless it is there as it was made last, of the very files that it
 * would be made of now.
 *
 * @param {string} root
 * @param {{ node: string | undefined }} folders - of the tools, undefined where PATH has them
 * @returns {Promise<void>}
 * @throws {SetupError} if a schema cannot be used: nothing is loaded then that is made of it
 */
export async function keepGenerated(root, { node }) {
  if (await isFresh(root)) return;
  await withLock(join(root, ".tools/lock"), async () => {
    if (await isFresh(root)) return; // who held the lock before has made it
    process.stderr.write("rockbot: generating code from the schemas\n");
    const inputs = await fingerprintOfInputs(root); // taken before, so that a file changed meanwhile is seen the next time
    await runChild("generate", "node", ["scripts/generate-code.ts"], {
      cwd: root,
      deadlineMs: 600_000,
      env: { ...process.env, PATH: [node, process.env.PATH].filter(Boolean).join(delimiter) },
      advice: "Mend it, then run the same command again.",
    });
    await writeFile(join(root, STAMP), `${inputs} ${await fingerprintOfOutputs(root)}`);
  });
}

/** @param {string} root */
async function isFresh(root) {
  const [stamp, ...current] = await Promise.all([
    readFile(join(root, STAMP), "utf8").catch(() => undefined),
    fingerprintOfInputs(root),
    fingerprintOfOutputs(root),
  ]);
  return stamp === current.join(" ");
}

/** @param {string} root */
async function fingerprintOfInputs(root) {
  const files = await inputsOf(root);
  return fingerprint(files, (file) => readFile(join(root, file)));
}

/**
 * By time and size, as they are large.
 *
 * @param {string} root
 */
async function fingerprintOfOutputs(root) {
  const owners = [...(await filesIn(root, "packages")), ...(await filesIn(root, "services"))];
  const files = await Promise.all(owners.map((owner) => filesIn(root, `${owner}/src/generated`)));
  return fingerprint(files.flat(), async (file) => {
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
async function inputsOf(root) {
  const folders = [
    "packages/contracts/schema",
    "packages/contracts/schema/tools",
    "packages/contracts/schema/service",
    "packages/sandbox/src/job",
    "packages/sandbox/src/local",
    "packages/sandbox/src/supervisor",
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
    "packages/policy/src/tool-glob.ts",
    "pnpm-lock.yaml",
    "scripts/generate-code.ts",
    "services/define-service.ts",
    "services/index.ts",
    "services/settings.yaml",
    "services/state.ts",
    ...inFolders
      .flat()
      .filter((file) => /\.(schema\.yaml|py)$|^packages\/contracts\/|^scripts\/.*(?<!\.test)\.ts$/.test(file)),
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
