import { connect } from "node:net";
import { CommandError } from "../command-error.ts";

const TIMEOUT_MS = 2000;

/** Tells whether a process listens on the unix socket. A socket left behind by a dead process is none. */
export async function isLiveSocket(path: string): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  const socket = connect(path);
  socket.setTimeout(TIMEOUT_MS, () =>
    reject(new CommandError(`Cannot connect to ${path}: "rockbot up" runs but does not answer`)),
  );
  socket.once("connect", () => resolve(true));
  socket.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ECONNREFUSED") resolve(false);
    else reject(new CommandError(`Cannot connect to ${path}: ${error.code ?? error.message}`));
  });
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
