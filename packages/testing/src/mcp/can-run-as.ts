import { spawnSync } from "node:child_process";
import { faultServer } from "./fault-server.ts";

/**
 * Whether programs of this repository can be started as the user: by that user, or by root if all on the way to them
 * can be read by the user.
 */
export function canRunAs(uid: number): boolean {
  if (process.getuid?.() === uid) return true;
  const { command, args } = faultServer("exit-at-start");
  return process.getuid?.() === 0 && spawnSync(command, args, { uid, gid: uid, cwd: "/" }).status === 2;
}
