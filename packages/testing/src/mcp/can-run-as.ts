import { spawnSync } from "node:child_process";
import { faultServer } from "./fault-server.ts";

/**
 * Tells whether the user can start programs of this repository: it is this user, or root may become it and it can read
 * the whole path.
 */
export function canRunAs(uid: number): boolean {
  if (process.getuid?.() === uid) return true;
  const { command, args } = faultServer("exit-at-start");
  return process.getuid?.() === 0 && spawnSync(command, args, { uid, gid: uid, cwd: "/" }).status === 2;
}
