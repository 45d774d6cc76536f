import { isLiveSocket } from "./is-live-socket.ts";
import { checkRuntimeFolder, makeRuntimeFolder, runtimeFolder, socketPath } from "./runtime-folder.ts";

/** The socket by which this user's `rockbot up` is reached, whether or not one runs. */
export interface OwnSocket {
  readonly path: string;
  /** Makes its folder if it is missing. @throws {CommandError} if others could use the folder */
  makeFolder(): void;
  /** Whether a `rockbot up` listens on it. @throws {CommandError} if others could use its folder, or if nobody answers */
  isLive(): Promise<boolean>;
}

/** @throws {CommandError} if the folder's path is too long for a socket */
export function ownSocket(env: Readonly<Record<string, string | undefined>>): OwnSocket {
  const uid = process.getuid?.() ?? 0;
  const folder = runtimeFolder(env, uid);
  const path = socketPath(folder);
  return {
    path,
    makeFolder: () => makeRuntimeFolder(folder, uid),
    isLive: async () => checkRuntimeFolder(folder, uid) && (await isLiveSocket(path)),
  };
}
