/** Writes into docker/images.env the digest that each image has in its registry now. Docker asks the registry; nothing is pulled. */
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runTool } from "../check/run-tool.ts";
import { pinImages, readImages } from "./pinned-images.ts";

const root = dirname(dirname(import.meta.dirname));
const file = join(root, "docker/images.env");
const text = await readFile(file, "utf8");
readImages(text);
await writeFile(
  file,
  await pinImages(text, (image) => runTool(root, "docker", ["buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", image])),
);
