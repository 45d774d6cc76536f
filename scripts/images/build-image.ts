import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { services } from "@rockbot/services";
import { runTool } from "../check/run-tool.ts";
import { provenance } from "./provenance.ts";
import type { BuiltImage, Release } from "./release.ts";

/** The image with the packages for scripts, which is no service. */
export const SANDBOX = "sandbox";

/**
 * Builds the image of a service, `cli` or `sandbox`, and writes beside each other in `dist/images` what it holds
 * (`{service}.sbom.cdx.json`, which the image has as /app/sbom.cdx.json) and what it was made from
 * (`{service}.provenance.json`).
 * @throws {Error} with the engine's output, if it cannot be built
 */
export async function buildImage(root: string, service: string, release: Release): Promise<BuiltImage> {
  const { registry, tag, noCache, version, revision, source, epoch } = release;
  const isSandbox = service === SANDBOX;
  const image = `${registry}/${service}:${tag}`;
  const base = isSandbox
    ? { argument: "PYTHON_IMAGE", image: release.pythonImage }
    : { argument: "NODE_IMAGE", image: release.nodeImage };
  const created = new Date(epoch * 1_000).toISOString().replace(".000", "");
  const values = {
    [base.argument]: base.image,
    SERVICE: service,
    VERSION: version,
    REVISION: revision,
    SOURCE: source,
    CREATED: created,
  };
  const args = Object.entries({ ...values, SOURCE_DATE_EPOCH: String(epoch) }).flatMap(([name, value]) => [
    "--build-arg",
    `${name}=${value}`,
  ]);
  const file = isSandbox ? "Dockerfile.sandbox" : "Dockerfile";
  const startedAt = new Date();
  const stage = services.find(({ name }) => name === service)?.deployment?.image;
  const target = stage === undefined ? [] : ["--target", stage];
  await runTool(root, "docker", [
    "build",
    "--quiet",
    "--file",
    file,
    ...target,
    ...(noCache ? ["--no-cache"] : []),
    ...args,
    "--tag",
    image,
    ".",
  ]);
  const inspect = (format: string) => runTool(root, "docker", ["image", "inspect", "--format", format, image]);
  const built = {
    image,
    id: await inspect("{{.Id}}"),
    layers: JSON.parse(await inspect("{{json .RootFS.Layers}}")) as string[],
  };

  const folder = join(root, "dist/images");
  await mkdir(folder, { recursive: true });
  if (!isSandbox) await copyOut(root, image, "/app/sbom.cdx.json", join(folder, `${service}.sbom.cdx.json`));
  const lockfile = await readFile(join(root, isSandbox ? "docker/sandbox-packages.txt" : "pnpm-lock.yaml"));
  const statement = provenance({
    built,
    service,
    base: base.image,
    lockfile,
    release,
    startedAt,
    finishedAt: new Date(),
  });
  await writeFile(join(folder, `${service}.provenance.json`), `${JSON.stringify(statement, undefined, 2)}\n`);
  return built;
}

/**
 * The image has no program that could print a file, so that the engine copies it out of a container that never runs.
 */
async function copyOut(root: string, image: string, from: string, to: string): Promise<void> {
  const id = await runTool(root, "docker", ["create", image]);
  try {
    await runTool(root, "docker", ["cp", "--quiet", `${id}:${from}`, to]);
  } finally {
    await runTool(root, "docker", ["rm", id]);
  }
}
