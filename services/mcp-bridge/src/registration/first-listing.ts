import { within } from "@rockbot/base";
import type { ServerPool } from "../servers/server-pool.ts";
import type { ToolTrust } from "../trust/tool-trust.ts";

export interface FirstListingParts {
  readonly pool: Pick<ServerPool, "find" | "onChange">;
  readonly trust: Pick<ToolTrust, "waitingOn">;
}

const NOT_HEARD = {
  reading: "its tools are still being read",
  away: "it answered once, but its connection has failed since, and is tried again",
  unreadable: "which of its tools are approved cannot be read now",
} as const;

/** What a server that was just registered offers, in words, once it has listed its tools, cannot, or `waitMs` are over. */
export async function firstListing({ pool, trust }: FirstListingParts, name: string, waitMs: number): Promise<string> {
  const standing = () => standingOf(pool.find(name));
  const settled = Promise.withResolvers<void>();
  const off = pool.onChange(() => standing() !== "reading" && settled.resolve());
  if (standing() === "reading")
    await within(Math.max(0, waitMs), settled.promise, () => new Error("it is still being read")).catch(() => {});
  off();
  const now = standing();
  if (now !== "heard") return `${NOT_HEARD[now]}. List the services again in a minute.`;
  const held = trust.waitingOn(name).length;
  return `${pool.find(name)?.tools.length ?? 0} tool(s) available.${held === 0 ? "" : ` ${held} more wait for an operator's approval.`}`;
}

function standingOf(server: ReturnType<ServerPool["find"]>): "heard" | keyof typeof NOT_HEARD {
  if (server === undefined) return "reading";
  if (server.isHeard) return "heard";
  if (server.health.state === "ready") return "unreadable"; // it has listed its tools by then
  return server.health.failures > 0 ? "away" : "reading";
}
