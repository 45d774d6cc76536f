/**
 * The first stage of generating: writes `src/generated` of packages and services, which git does not hold. From
 * `packages/contracts/schema` come TypeScript types, standalone validators, the catalogue of messages and tools, and the
 * clauses of the contract; from `services/NAME/*.schema.yaml` with `services/settings.yaml`, and from the policy's
 * schema, the module of each file that people write; from the programs that are handed to others, modules with their
 * text. It imports nothing that is generated. scripts/with-tools runs it where scripts/bootstrap/made.mjs says so.
 */
import { globSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { busServices, services } from "../services/index.ts";
import { clausesModule } from "./generate/clauses-module.ts";
import { configModule, pascalCase } from "./generate/config-module.ts";
import { contractsModules } from "./generate/contracts-modules.ts";
import { joinProgram } from "./generate/join-program.ts";
import { programModule } from "./generate/program-module.ts";
import { POLICY_SCHEMA, readCodeSources, settingsName } from "./generate/read-sources.ts";
import type { JsonSchema } from "./generate/schema-document.ts";
import { writeIfChanged } from "./generate/write-file.ts";

const root = dirname(import.meta.dirname);
process.chdir(root);

/** The same programs as in scripts/bootstrap/made.mjs, which looks into no other folder for them. */
const PROGRAMS = [
  "packages/sandbox/src/{job,local}/*.py",
  "services/scripts-manager/src/{calls,packages/installer}/*.py",
];
/** A program of parts, by the file that it begins with; the folder above it names it. */
const JOINED = "packages/sandbox/src/supervisor/program/main.py";
const CONTRACT = "packages/contracts/schema/service/contract.yaml";

const { definitions, settings, policy, faults } = await readCodeSources(root, services);
for (const fault of faults) console.error(`Cannot generate: ${fault}`);
if (faults.length > 0) process.exit(1); // before anything is written

/** Folder of a package or service -> name of a file in its `src/generated` -> text. */
type Modules = readonly [folder: string, texts: Readonly<Record<string, string>>];

const modules = await Promise.all([
  make("packages/contracts/schema", "packages/contracts", () => contractsModules(definitions, busServices)),
  make(CONTRACT, "packages/conformance", async () => ({
    "clauses.ts": clausesModule(CONTRACT, await readFile(CONTRACT, "utf8")),
  })),
  ...[...settings].map(([file, schema]) => makeConfig(file, settingsName(file), schema)),
  make(POLICY_SCHEMA, dirname(POLICY_SCHEMA), () =>
    configModule({ file: POLICY_SCHEMA, name: "policy", type: "PolicyDocument" }, policy),
  ),
  ...globSync(PROGRAMS).map(makeProgram),
  make(JOINED, "packages/sandbox", async () => {
    const folder = dirname(JOINED);
    const name = basename(dirname(folder));
    return { [`${name}.ts`]: programModule(`${folder}/*.py`, name, await joinProgram(folder)) };
  }),
]);
const files = new Map(
  modules.flatMap(([folder, texts]) =>
    Object.entries(texts).map(([name, text]) => [join(folder, "src/generated", name), text] as const),
  ),
);
const changed = await Promise.all([...files].map(([file, text]) => writeIfChanged(file, text)));
const leftOver = globSync("{packages,services}/*/src/generated/*").filter((file) => !files.has(file));
// Of a schema that is there no more; another generator may be quicker.
for (const file of leftOver) await rm(file, { force: true });
console.error(`${files.size} files of code generated, ${changed.filter(Boolean).length + leftOver.length} changed`);

/** A fault of the schema that the checks before have not found ends everything, with the schema's file in words. */
async function make(
  file: string,
  folder: string,
  texts: () => Promise<Readonly<Record<string, string>>>,
): Promise<Modules> {
  try {
    return [folder, await texts()];
  } catch (error) {
    console.error(`Cannot generate: ${file}: ${(error as Error).message}`);
    process.exit(1);
  }
}

function makeConfig(file: string, name: string, schema: JsonSchema): Promise<Modules> {
  const folder = dirname(file);
  const type = `${pascalCase(basename(folder))}${pascalCase(name)}`;
  return make(file, folder, () => configModule({ file, name, type }, schema));
}

function makeProgram(file: string): Promise<Modules> {
  const name = basename(file, ".py");
  const folder = file.split("/").slice(0, 2).join("/");
  return make(file, folder, async () => ({ [`${name}.ts`]: programModule(file, name, await readFile(file, "utf8")) }));
}
