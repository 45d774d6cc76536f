import { existsSync } from "node:fs";
import { run } from "./run.ts";

/**
 * Held by one test process at a time: apt refuses a second `update` at once, and the policy below belongs to the
 * process that wrote it.
 */
const LOCK = "/var/lock/rockbot-tests-apt.lock";

/**
 * Installs package $1 without starting it: Debian's hook policy-rc.d forbids that with exit code 101. A hook that
 * exists already is the administrator's, and stays. `update` waits for no other program's lock, so it is tried a few
 * times; `install` waits.
 */
const INSTALL = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\\nexit 101\\n' >"$policy"
  chmod 755 "$policy"
fi
for attempt in 1 2 3 4 5; do
  apt-get update && break
  sleep 5
done
apt-get -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends "$1"
`;

export function canInstallDebianPackages(): boolean {
  return process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
}

/**
 * Installs a server without starting it as a service of the system. One process installs at a time; the others wait for
 * it.
 */
export async function installDebianPackage(name: string): Promise<void> {
  process.stderr.write(`Installing ${name} by apt for the tests; the system's service is not started\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("flock", ["--timeout", "500", LOCK, "sh", "-ec", INSTALL, "sh", name], { timeoutMs: 580_000, env });
}
