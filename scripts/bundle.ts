/**
 * Bundles one service of the list, or each of them, into files that run with no node_modules: `scripts/bundle.ts web-tools` makes
 * `dist/web-tools/main.mjs`. `cli` is the command.
 */
import { dirname } from "node:path";
import { services } from "@rockbot/services";
import { bundleService, CLI } from "./bundle/bundle-service.ts";

const root = dirname(import.meta.dirname);

const known = [...services.map(({ name }) => name), CLI];
const asked = process.argv.slice(2);
const unknown = asked.filter((service) => !known.some((name) => name === service));
if (unknown.length > 0) {
  console.error(`Cannot bundle ${unknown.join(", ")}: no such service. There are: ${known.join(", ")}`);
  process.exit(2);
}
for (const service of asked.length > 0 ? asked : known) {
  const { file, bytes } = await bundleService(root, service);
  console.error(`${file}  ${(bytes / 1024).toFixed(0)} KiB`);
}
