import { mkdir, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Logger } from "@rockbot/bus";
import type { SandboxMaker } from "@rockbot/sandbox";
import type { ScriptsManagerConfig } from "./generated/config.ts";
import { openPackageStore, type PackageStore } from "./packages/package-store.ts";

export interface CreatePackagesOptions {
  /**
   * Makes sandboxes for the installer, as those of scripts but for what they may use. Disposed of with what is
   * returned.
   */
  readonly openMaker: () => Promise<SandboxMaker>;
  /** Which Python is in them. */
  readonly environment: string;
  readonly log: Logger;
}

const MIB = 1024 * 1024;

/**
 * The folder of the packages, if there can be any; made if it is not there, as sandboxes see it from their start.
 * @throws {Error} with Node's code if it cannot be made
 */
export async function packagesFolderOf({
  packagesFolder,
  pipIndexUrl,
  pipWheels,
}: Pick<ScriptsManagerConfig, "packagesFolder" | "pipIndexUrl" | "pipWheels">): Promise<string | undefined> {
  if (pipIndexUrl === undefined && pipWheels === undefined) return undefined;
  const folder = resolve(packagesFolder);
  await mkdir(folder, { recursive: true });
  return folder;
}

/**
 * The packages that the settings allow scripts.
 * @throws {TypeError} for an index that is no address; {Error} with Node's code for a file or folder that cannot be
 * used; what `openMaker` throws
 */
export async function createPackages(
  config: Readonly<ScriptsManagerConfig>,
  { openMaker, environment, log }: CreatePackagesOptions,
): Promise<PackageStore & AsyncDisposable> {
  const certificates =
    config.pipCertificates === undefined ? undefined : await readFile(config.pipCertificates, "utf8");
  const maker = await openMaker();
  const store = await openPackageStore({
    maker,
    environment,
    folder: resolve(config.packagesFolder),
    indexUrl: config.pipIndexUrl,
    fileHosts: config.pipFileHosts,
    wheelsFolder: config.pipWheels,
    certificates,
    allow: config.pipAllow,
    deny: config.pipDeny,
    timeoutMs: config.pipTimeoutSeconds * 1000,
    holdMs: config.pipHoldHours * 3600_000,
    maxLayerBytes: config.pipLayerMiB * MIB,
    maxTotalBytes: config.packagesMiB * MIB,
    keepMs: 2 * 1000 * (config.maxTimeoutSeconds + 1200), // from the installation on a call may still wait for its sandbox
    log,
  });
  return { ensure: store.ensure, [Symbol.asyncDispose]: () => maker[Symbol.asyncDispose]() };
}
