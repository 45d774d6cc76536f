import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { run } from "./run.ts";

/** Debian's hook that says which services a package may start: exit code 101 forbids it. */
const POLICY = "/usr/sbin/policy-rc.d";
const LOCK_WAIT = ["-o", "DPkg::Lock::Timeout=300"];

export function canInstallDebianPackages(): boolean {
  return process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
}

/** Installs a server without starting it as a service of the system. */
export async function installDebianPackage(name: string): Promise<void> {
  process.stderr.write(`Installing ${name} by apt for the tests; the system's service is not started\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // A policy that exists already is the administrator's: it stays as it is.
  const isOurs = await writeFile(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755, flag: "wx" }).then(
    () => true,
    () => false,
  );
  try {
    await run("apt-get", [...LOCK_WAIT, "update"], { timeoutMs: 180_000, env });
    await run("apt-get", [...LOCK_WAIT, "install", "--yes", "--no-install-recommends", name], { timeoutMs: 400_000, env });
  } finally {
    if (isOurs) await rm(POLICY, { force: true });
  }
}
