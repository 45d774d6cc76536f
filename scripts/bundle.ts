/**
 * Bundles one service of the list, or each of them, into files that run with no node_modules: `scripts/bundle.ts
 * web-tools` makes `dist/web-tools/main.mjs`, and beside it `sbom.cdx.json`, the bill of materials, and `licences.txt`,
 * the texts of all packages that are inside. `cli` is the command. `--system FILE` names what an image has besides.
 */
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { services } from "@rockbot/services";
import { bundleService, CLI } from "./bundle/bundle-service.ts";
import { billOfMaterials } from "./images/bill-of-materials.ts";
import { bundledPackages } from "./images/bundled-packages.ts";
import { licenceTexts } from "./images/licence-texts.ts";
import { systemPackages } from "./images/system-packages.ts";

const root = dirname(import.meta.dirname);

const { values, positionals: asked } = parseArgs({ options: { system: { type: "string" } }, allowPositionals: true });
const known = [...services.map(({ name }) => name), CLI];
const unknown = asked.filter((service) => !known.some((name) => name === service));
if (unknown.length > 0) {
  console.error(`Cannot bundle ${unknown.join(", ")}: no such service. There are: ${known.join(", ")}`);
  process.exit(2);
}
const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { readonly version: string };
const system = values.system === undefined ? [] : await systemPackages(values.system);
for (const service of asked.length > 0 ? asked : known) {
  const { folder, file, bytes, metafile } = await bundleService(root, service);
  const packages = await bundledPackages(root, metafile);
  await writeFile(join(root, folder, "sbom.cdx.json"), billOfMaterials({ service, version, packages, system }));
  await writeFile(join(root, folder, "licences.txt"), await licenceTexts(root, packages));
  console.error(`${file}  ${(bytes / 1024).toFixed(0)} KiB, ${packages.length} packages`);
}
