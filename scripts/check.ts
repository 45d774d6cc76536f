/**
 * Checks the repository itself, all steps at once, and reports every fault. Exit 0 if all is well, 1 if anything is
 * not.
 */
import { dirname } from "node:path";
import { checkDocComments } from "./check/check-doc-comments.ts";
import { checkEmitters } from "./check/check-emitters.ts";
import { checkFunctions } from "./check/check-functions.ts";
import { checkLayers } from "./check/check-layers.ts";
import { checkManifests } from "./check/check-manifests.ts";
import { checkOptions } from "./check/check-options.ts";
import { checkPaths } from "./check/check-paths.ts";
import { checkServices } from "./check/check-services.ts";
import { checkEnglish } from "./check/docs/check-english.ts";
import { checkLinks } from "./check/docs/check-links.ts";
import { runTool } from "./check/run-tool.ts";

interface Step {
  readonly name: string;
  /** Resolves to what was looked at; rejects with the faults as the message. */
  readonly run: () => Promise<string>;
  /** What mends most faults of this kind. */
  readonly remedy?: string;
}

const root = dirname(import.meta.dirname);

const biome = ["check", "--error-on-warnings", "--diagnostic-level=warn", "--max-diagnostics=none"];
const steps: readonly Step[] = [
  {
    name: "format and lint",
    run: () => runTool(root, "biome", biome),
    remedy: "npm run format mends what can be mended by rule",
  },
  { name: "types", run: () => runTool(root, "tsc", ["-p", "."]) },
  { name: "types of the page", run: () => runTool(root, "tsc", ["-p", "packages/console"]) },
  {
    name: "generated files",
    run: () => runTool(root, "node", ["scripts/generate.ts", "--check"]),
    remedy: "npm run generate",
  },
  { name: "layers and cycles", run: () => checkLayers(root) },
  { name: "dead code", run: () => runTool(root, "knip", ["--no-progress", "--treat-config-hints-as-errors"]) },
  {
    name: "long functions",
    run: () => checkFunctions(root),
    remedy: "cut it into parts with names, or say above it: // Long because: ...",
  },
  {
    name: "options",
    run: () => checkOptions(root),
    remedy: "give what belongs together a name of its own, or say above them: Many because: ...",
  },
  {
    name: "emitters",
    run: () => checkEmitters(root),
    remedy: 'listen by .on("error", ...) in the turn in which it is opened',
  },
  { name: "manifests", run: () => checkManifests(root) },
  { name: "services", run: () => checkServices(root) },
  { name: "paths", run: () => checkPaths(root) },
  { name: "links", run: () => checkLinks(root) },
  { name: "English", run: () => checkEnglish(root) },
  { name: "doc comments", run: () => checkDocComments(root) },
];

const startedAt = performance.now();
const faults = await Promise.all(steps.map(runStep));
const failed = faults.filter((text) => text !== undefined);
for (const text of failed) console.error(`\n${text}`);
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
console.error(`\n${steps.length - failed.length} of ${steps.length} checks passed in ${seconds} s`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** @returns the faults in words, or nothing if there are none */
async function runStep({ name, run, remedy }: Step): Promise<string | undefined> {
  const stepStartedAt = performance.now();
  const report = (state: string, note: string): void => {
    console.error(
      `${state}  ${name.padEnd(18)}${((performance.now() - stepStartedAt) / 1000).toFixed(1).padStart(5)} s  ${note}`,
    );
  };
  try {
    report("ok  ", await run());
    return undefined;
  } catch (error) {
    report("FAIL", "");
    return `${name}:\n${(error as Error).message}${remedy === undefined ? "" : `\n(${remedy})`}`;
  }
}
