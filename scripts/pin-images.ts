/**
 * Writes into docker/images.env the digest that each image has in its registry now. Docker asks the registry; nothing
 * is pulled.
 */
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runTool } from "./check/run-tool.ts";
import { readImages } from "./images/pinned-images.ts";

const root = dirname(import.meta.dirname);
const file = join(root, "docker/images.env");
let text = await readFile(file, "utf8");
for (const [name, image] of Object.entries(readImages(text))) {
  const [tagged = ""] = image.split("@");
  const digest = await runTool(root, "docker", [
    "buildx",
    "imagetools",
    "inspect",
    "--format",
    "{{.Manifest.Digest}}",
    tagged,
  ]);
  text = text.replace(`${name}=${image}\n`, `${name}=${tagged}@${digest}\n`);
}
readImages(text);
await writeFile(file, text);
