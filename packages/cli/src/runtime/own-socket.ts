import { get } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { printError } from "../terminal/print-error.ts";
import { isLiveSocket } from "./is-live-socket.ts";
import { checkRuntimeFolder, makeRuntimeFolder, runtimeFolder, type SocketOf, socketPath } from "./runtime-folder.ts";

/** The folder of this program. */
export const CHECKOUT = join(import.meta.dirname, "../../../..");

/** Where the process at the socket says whose it is, and which tools are off there. */
export const HERE_PATH = "/operator/here";

/** Why there is no socket, for users. */
export const NOT_RUNNING = 'no "rockbot up" runs here. One over a broker is reached where its gateway runs with it';

/** The socket by which this user's `rockbot up` is reached, whether or not one runs. */
export interface OwnSocket {
  readonly path: string;
  /** Makes its folder if it is missing. @throws {CommandError} if others could use the folder */
  makeFolder(): void;
  /**
   * Tells whether a `rockbot up` listens on it; says whose, if it is one of another checkout.
   * @throws {CommandError} if others could use its folder, or if nobody answers
   */
  isLive(): Promise<boolean>;
}

/**
 * The path of the socket that answers operators: that of the `rockbot up` over the in-memory bus, or else of one over a
 * broker. Undefined if neither runs.
 * @throws {CommandError} as OwnSocket.isLive
 */
export async function liveSocket(env: Readonly<Record<string, string | undefined>>): Promise<string | undefined> {
  for (const bus of ["memory", "broker"] as const) {
    const socket = ownSocket(env, bus);
    if (await socket.isLive()) return socket.path;
  }
  return undefined;
}

/** @throws {CommandError} if the folder's path is too long for a socket */
export function ownSocket(env: Readonly<Record<string, string | undefined>>, of: SocketOf = "memory"): OwnSocket {
  const uid = process.getuid?.() ?? 0;
  const folder = runtimeFolder(env, uid);
  const path = socketPath(folder, of);
  return {
    path,
    makeFolder: () => makeRuntimeFolder(folder, uid),
    async isLive() {
      if (!checkRuntimeFolder(folder, uid) || !(await isLiveSocket(path))) return false;
      const root = await rootOf(path);
      if (root !== undefined && root !== CHECKOUT)
        printError(
          `rockbot: the "rockbot up" that runs is that of ${root}. ROCKBOT_RUNTIME_DIR separates yours from it`,
        );
      return true;
    },
  };
}

const ANSWER_MS = 2_000;

/** Whose the process at the other side is; undefined for one that does not say so in time. */
async function rootOf(socketPath: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<{ readonly root?: string }>();
  get(
    { socketPath, path: HERE_PATH, agent: false, timeout: ANSWER_MS, signal: AbortSignal.timeout(ANSWER_MS) },
    (response) => {
      json(response).then(
        (answer) => resolve(answer as object),
        () => resolve({}),
      );
    },
  ).on("error", () => resolve({}));
  return (await promise).root;
}
