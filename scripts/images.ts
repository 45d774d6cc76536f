/**
 * Builds the images of all services, or of those named: `scripts/images.ts [--registry PREFIX] [--tag TAG]
 * [--node-image IMAGE] [--python-image IMAGE] [--no-cache] [SERVICE...]`. `cli` and `sandbox` are images, too.
 * `dist/images` then holds each image's bill of materials and provenance, and `images.json` with the hashes of their
 * layers. `--release` refuses to build what cannot be built again: exit 1 with all faults. With `--dry` it names the
 * faults and builds all the same. `--pin` builds nothing: it writes into docker/images.env the digest that each image
 * has in its registry now.
 */
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { services } from "@rockbot/services";
import { CLI } from "./bundle/bundle-service.ts";
import { buildImage, SANDBOX } from "./images/build-image.ts";
import { pinImages } from "./images/pin-images.ts";
import { type BuiltImage, imageFaults, readRelease } from "./images/release.ts";

const root = dirname(import.meta.dirname);
const text = { type: "string" } as const;
const { values, positionals } = parseArgs({
  options: {
    registry: text,
    tag: text,
    "node-image": text,
    "python-image": text,
    "no-cache": { type: "boolean" },
    release: { type: "boolean" },
    dry: { type: "boolean" },
    pin: { type: "boolean" },
  },
  allowPositionals: true,
});
if (values.pin === true) {
  await pinImages(root);
  process.exit();
}
const known = [...services.map(({ name }) => name), CLI, SANDBOX];
const unknown = positionals.filter((name) => !known.includes(name));
const release = await readRelease(root, values, process.env);
const faults = values.release === true ? await imageFaults(root, release, process.env) : [];
for (const name of unknown) console.error(`in the way: ${name}: no such image. There are: ${known.join(", ")}`);
for (const fault of faults) console.error(`in the way: ${fault}`);
if (unknown.length > 0 || (faults.length > 0 && values.dry !== true)) {
  console.error("Cannot build the images: see above");
  process.exit(1);
}
const built: Record<string, BuiltImage> = {};
for (const name of positionals.length > 0 ? positionals : known) {
  built[name] = await buildImage(root, name, release);
  console.error(`${built[name].image}  ${built[name].id}`);
}
await writeFile(join(root, "dist/images/images.json"), `${JSON.stringify(built, undefined, 2)}\n`);
