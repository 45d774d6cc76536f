import { lookup, Resolver } from "node:dns/promises";
import { connect } from "node:net";
import type { CanaryTarget } from "./canary-targets.ts";

/** How long one may take to answer. */
export const REACH_MS = 2_000;

/** The address at which this process reaches a target right now; undefined if it does not. */
export async function reachTarget({ host, port, protocol = "tcp" }: CanaryTarget): Promise<string | undefined> {
  try {
    const { address } = await lookup(host);
    if (protocol === "tcp" ? await connects(address, port) : await answers(address, port)) return address;
  } catch {
    // No such name is one way not to reach it.
  }
  return undefined;
}

async function connects(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host, port, timeout: REACH_MS });
  socket.once("connect", () => resolve(true));
  socket.once("timeout", () => resolve(false)).on("error", () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/** "No such name" is an answer, too. */
async function answers(host: string, port: number): Promise<boolean> {
  const resolver = new Resolver({ timeout: REACH_MS, tries: 1 });
  resolver.setServers([host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`]);
  try {
    await resolver.resolve4("example.com");
    return true;
  } catch (error) {
    return !["ECONNREFUSED", "ETIMEOUT", "ECANCELLED"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}
