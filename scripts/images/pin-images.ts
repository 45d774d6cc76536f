import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runTool } from "../check/run-tool.ts";
import { readImages } from "./pinned-images.ts";

/**
 * Writes into docker/images.env the digest that each image has in its registry now. Docker asks the registry; nothing
 * is pulled.
 */
export async function pinImages(root: string): Promise<void> {
  const file = join(root, "docker/images.env");
  let text = await readFile(file, "utf8");
  for (const [name, image] of Object.entries(readImages(text))) {
    const [tagged = ""] = image.split("@");
    const inspect = ["buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", tagged];
    const digest = await runTool(root, "docker", inspect);
    text = text.replace(`${name}=${image}\n`, `${name}=${tagged}@${digest}\n`);
  }
  readImages(text);
  await writeFile(file, text);
}
