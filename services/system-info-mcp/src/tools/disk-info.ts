import { readFile, statfs } from "node:fs/promises";
import { homedir } from "node:os";
import { parse } from "node:path";
import { within } from "@rockbot/base";
import { type Drive, fixedDrives } from "./fixed-drives.ts";

/** A disk that hangs is reported as one, and holds up no answer. */
const STATFS_MS = 2_000;

export async function diskInfo(): Promise<object> {
  return { drives: await Promise.all((await drives()).map(usage)) };
}

/** Where the system keeps no list of what is mounted, the drive of the home folder. */
async function drives(): Promise<readonly Drive[]> {
  try {
    return fixedDrives(await readFile("/proc/self/mounts", "utf8"));
  } catch {
    return [{ path: parse(homedir()).root, fileSystem: undefined }];
  }
}

async function usage({ path, fileSystem }: Drive): Promise<object> {
  const drive = { path, ...(fileSystem === undefined ? {} : { fileSystem }) };
  try {
    const { bsize, blocks, bfree, bavail } = await within(STATFS_MS, statfs(path), () => new Error("late"));
    return {
      ...drive,
      totalBytes: bsize * blocks,
      usedBytes: bsize * (blocks - bfree),
      availableBytes: bsize * bavail,
    };
  } catch {
    return { ...drive, fault: "It gives no answer." };
  }
}
