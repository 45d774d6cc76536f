import { lstatSync, mkdirSync, type Stats, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { CommandError } from "../command-error.ts";

/** Where a running `rockbot up` has its socket. The same for all commands of one user on one machine. */
export function runtimeFolder(env: Readonly<Record<string, string | undefined>>, uid: number): string {
  const own = env["ROCKBOT_RUNTIME_DIR"];
  if (own) return isAbsolute(own) ? own : join(process.cwd(), own);
  const session = env["XDG_RUNTIME_DIR"];
  if (session && isAbsolute(session) && isFolderOf(session, uid)) return join(session, "rockbot");
  return join(tmpdir(), `rockbot-${uid}`);
}

/**
 * Unix sockets take 103 bytes on every system; 11 are for the name that a socket has at first: a dot and the process's
 * number.
 */
const MAX_PATH_BYTES = 103 - 11;

/** Who listens on a socket: a `rockbot up` of its own bus, or one over a broker. */
export type SocketOf = "memory" | "broker";

const NAMES = { memory: "rockbot.sock", broker: "broker.sock" };

/** The socket's path. */
export function socketPath(folder: string, of: SocketOf): string {
  const path = join(folder, NAMES[of]);
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new CommandError(
      `Cannot use the runtime folder ${folder}: its path is too long for a socket. Set ROCKBOT_RUNTIME_DIR to a shorter one`,
    );
  return path;
}

/** Makes the folder if it is missing, and makes sure that it is ours alone. @throws {CommandError} otherwise */
export function makeRuntimeFolder(folder: string, uid: number): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST")
      throw new CommandError(
        `Cannot make the runtime folder ${folder}: ${code}. Set ROCKBOT_RUNTIME_DIR to a folder of yours`,
      );
  }
  checkRuntimeFolder(folder, uid);
}

/**
 * Tells whether the folder exists.
 * @throws {CommandError} if somebody else could have put a socket there, or could use ours
 */
export function checkRuntimeFolder(folder: string, uid: number): boolean {
  let stats: Stats;
  try {
    stats = lstatSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return false;
    throw new CommandError(
      `Cannot look at the runtime folder ${folder}: ${code}. Set ROCKBOT_RUNTIME_DIR to a folder of yours`,
    );
  }
  const help = "Remove it, or set ROCKBOT_RUNTIME_DIR to another one";
  if (!stats.isDirectory())
    throw new CommandError(`Cannot use the runtime folder ${folder}: it is not a folder. ${help}`);
  if (stats.uid !== uid)
    throw new CommandError(`Cannot use the runtime folder ${folder}: it belongs to another user. ${help}`);
  if ((stats.mode & 0o077) !== 0)
    throw new CommandError(
      `Cannot use the runtime folder ${folder}: others have access to it. Run "chmod 700 ${folder}"`,
    );
  return true;
}

function isFolderOf(path: string, uid: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true && stats.uid === uid;
}
