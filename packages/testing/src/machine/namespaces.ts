import { spawnSync } from "node:child_process";
import { canInstallDebianPackages, installDebianPackage } from "./install-debian-package.ts";

/**
 * Why this machine cannot put a program within namespaces, if it cannot: by the system's own means, whatever ours make
 * of it.
 */
export function missingNamespaces(): string | undefined {
  const user = process.getuid?.() === 0 ? [] : ["--user", "--map-current-user", "--keep-caps"];
  const { error, status, stderr } = spawnSync("unshare", [
    ...user,
    "--mount",
    "--pid",
    "--net",
    "--ipc",
    "--uts",
    "--cgroup",
    "--fork",
    "--mount-proc",
    "true",
  ]);
  if (error !== undefined) return "there is no unshare";
  return status === 0 ? undefined : `there are no namespaces: ${stderr.toString().trim()}`;
}

/** Tells whether bubblewrap is installed; on Debian as root it installs it. */
export async function hasBubblewrap(): Promise<boolean> {
  if (spawnSync("bwrap", ["--version"]).status === 0) return true;
  if (!canInstallDebianPackages()) return false;
  return await installDebianPackage("bubblewrap").then(
    () => true,
    () => false,
  );
}
