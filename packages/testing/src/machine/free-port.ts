import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below what systems give to connections that programs make (Linux from 32768, others from 49152): such a port could be
 * taken before its server starts.
 */
const [FIRST, LAST] = [15_000, 32_767];
const MAX_TRIES = 100;

/** A port of 127.0.0.1 that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`Cannot find a free port: ${MAX_TRIES} from ${FIRST} to ${LAST} are in use`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
