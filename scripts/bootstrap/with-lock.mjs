import { randomBytes } from "node:crypto";
import { mkdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { SetupError } from "./setup-error.mjs";

const HEARTBEAT_MS = 2_000;
const STALE_MS = 30_000;
const DEADLINE_MS = 900_000;

/**
 * Runs `work` while this process alone holds the lock file. A lock whose holder is dead, or has not touched it for 30
 * seconds, is taken over.
 *
 * @param {string} file
 * @param {() => Promise<void>} work
 * @returns {Promise<void>}
 * @throws {SetupError} if another process holds it for 15 minutes
 */
export async function withLock(file, work) {
  await mkdir(dirname(file), { recursive: true });
  const token = `${hostname()} ${process.pid} ${randomBytes(8).toString("hex")}`;
  await acquire(file, token);
  const heartbeat = setInterval(() => utimes(file, new Date(), new Date()).catch(() => {}), HEARTBEAT_MS);
  try {
    await work();
  } finally {
    clearInterval(heartbeat);
    if ((await readToken(file)) === token) await rm(file, { force: true });
  }
}

/**
 * @param {string} file
 * @param {string} token
 */
async function acquire(file, token) {
  const deadline = Date.now() + DEADLINE_MS;
  for (let isAnnounced = false; ; isAnnounced = true) {
    const isMine = await createFile(file, token);
    if (isMine) return;
    const holder = await readToken(file);
    if (holder !== undefined && (await isStale(file, holder))) {
      await removeStale(file, holder);
      continue;
    }
    if (Date.now() > deadline)
      throw new SetupError(
        `Cannot set up: another start holds ${file} for 15 minutes. If none is running, remove that file.`,
      );
    if (!isAnnounced) process.stderr.write(`rockbot: waiting for another start that is setting up this folder\n`);
    await setTimeout(200);
  }
}

/**
 * Several waiters may see the same stale lock, and only one may remove it, else the second removes its successor. So
 * the right to remove belongs to who creates a file named after the stale holder, and the lock must still be that
 * holder's.
 *
 * @param {string} file
 * @param {string} holder
 */
async function removeStale(file, holder) {
  const right = `${file}.stale-${holder.split(" ").at(-1)}`;
  if (!(await createFile(right, ""))) return setTimeout(200);
  if ((await readToken(file)) === holder) await rm(file, { force: true });
  await rm(right, { force: true });
}

/**
 * @param {string} file
 * @param {string} holder
 */
async function isStale(file, holder) {
  const [host, pid] = holder.split(" ");
  if (host === hostname() && Number(pid) > 0 && !isAlive(Number(pid))) return true;
  const status = await stat(file).catch(() => undefined);
  return status !== undefined && Date.now() - status.mtimeMs > STALE_MS;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== "ESRCH"; // EPERM: alive, and another user's
  }
}

/**
 * @param {string} file
 * @param {string} text
 * @returns {Promise<boolean>} false if the file exists
 */
async function createFile(file, text) {
  try {
    await writeFile(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** @param {string} file */
function readToken(file) {
  return readFile(file, "utf8").catch(() => undefined);
}
