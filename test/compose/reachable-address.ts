import { execFile } from "node:child_process";
import { lookup } from "node:dns/promises";
import { connect } from "node:net";
import { promisify } from "node:util";
import type { Target } from "../deployment/reach-program.ts";

/**
 * Another machine: npm's registry, which a build of the images has to reach anyway.
 * @returns undefined if this machine does not reach it
 */
export async function reachableAddress(): Promise<Target | undefined> {
  try {
    const { stdout } = await promisify(execFile)("npm", ["config", "get", "registry"]);
    const name = new URL(stdout.trim()).hostname;
    const { address } = await lookup(name, { family: 4 });
    const socket = connect({ host: address, port: 443, timeout: 10_000 });
    await new Promise((resolve, reject) =>
      socket
        .once("connect", resolve)
        .once("error", reject)
        .once("timeout", () => reject(new Error("no answer"))),
    );
    socket.destroy();
    return { name, host: address, port: 443 };
  } catch {
    return undefined;
  }
}
