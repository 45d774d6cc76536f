/**
 * Makes the checkout ready to run and prints, for scripts/with-tools, what belongs in front of PATH. Plain JavaScript,
 * since it runs on whatever Node the machine has (20 or newer). Nothing is installed outside the project's own folder;
 * all words for people go to stderr; exit 2 says in one line what is missing. A second run only reads: no lock, no
 * child process.
 */
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { areDependenciesInstalled, installDependencies } from "./bootstrap/dependencies.mjs";
import { keepMade } from "./bootstrap/made.mjs";
import { SetupError } from "./bootstrap/setup-error.mjs";
import { findNode, findPnpm, installTools, readWantedTools } from "./bootstrap/tools.mjs";
import { withLock } from "./bootstrap/with-lock.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @returns {Promise<string>} the folders to put in front of PATH, joined as PATH is */
async function prepare() {
  const wanted = await readWantedTools(root);
  if (findNode(root, wanted) === undefined || !(await areDependenciesInstalled(root))) {
    await withLock(join(root, ".tools/lock"), () => setUp(wanted));
  }
  await keepMade(root, { node: findNode(root, wanted) });
  return [join(root, "node_modules/.bin"), findNode(root, wanted), findPnpm(root, wanted)]
    .filter(Boolean)
    .join(delimiter);
}

/** @param {import("./bootstrap/tools.mjs").WantedTools} wanted */
async function setUp(wanted) {
  const isInstalled = await areDependenciesInstalled(root); // looked up again: who held the lock before may have done it all
  await installTools(root, wanted, { isPnpmNeeded: !isInstalled });
  if (!isInstalled) await installDependencies(root, { node: findNode(root, wanted), pnpm: findPnpm(root, wanted) });
}

try {
  process.stdout.write(await prepare());
} catch (error) {
  if (error instanceof SetupError) process.stderr.write(`rockbot: ${error.message}\n`);
  else if (typeof error.syscall === "string")
    process.stderr.write(`rockbot: Cannot set up ${root}: ${error.message}\n`);
  else throw error;
  process.exitCode = 2;
}
