import { chmod, cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundleService, CLI } from "../bundle/bundle-service.ts";
import { billOfMaterials } from "../images/bill-of-materials.ts";
import { bundledPackages } from "../images/bundled-packages.ts";
import { licenceTexts } from "../images/licence-texts.ts";

/** Where the command lies in the published package. */
const FOLDER = "dist/command";

/** What the package's manifest says of the command. */
export const BIN = { rockbot: `./${FOLDER}/rockbot.mjs` } as const;

/** Where its bill of materials lies in the published package. */
export const BILL = `${FOLDER}/sbom.cdx.json`;

/** The command's own files need a newer Node than the library. */
const START = `#!/usr/bin/env node
import module from "node:module";

if (Number.parseInt(process.versions.node, 10) < 24) {
  console.error("rockbot needs Node 24 or newer, and this is " + process.version);
  process.exit(1);
}
module.enableCompileCache(); // half of the time that a start takes
await import("./main.mjs");
`;

/**
 * Puts the command into the folder of the package, as the image `cli` has it: with all services, no dependency, its
 * bill of materials, and the licences of what is inside.
 */
export async function addCommand(root: string, folder: string, version: string): Promise<void> {
  const { folder: bundle, metafile } = await bundleService(root, CLI, "dist/npm/command");
  const packages = await bundledPackages(root, metafile);
  const to = join(folder, FOLDER);
  await cp(join(root, bundle), to, { recursive: true });
  await Promise.all([
    writeFile(join(folder, BILL), billOfMaterials({ service: "rockbot", version, packages })),
    licenceTexts(root, packages).then((texts) => writeFile(join(to, "licences.txt"), texts)),
    writeFile(join(to, "rockbot.mjs"), START).then(() => chmod(join(to, "rockbot.mjs"), 0o755)),
  ]);
}
