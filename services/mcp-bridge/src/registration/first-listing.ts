import { within } from "@rockbot/base";
import type { ServerPool } from "../servers/server-pool.ts";
import type { ToolTrust } from "../trust/tool-trust.ts";

export interface FirstListingParts {
  readonly pool: Pick<ServerPool, "find" | "onChange">;
  readonly trust: Pick<ToolTrust, "waitingOn">;
}

/** What a server that was just registered offers, in words, once it has listed its tools or `waitMs` are over. */
export async function firstListing({ pool, trust }: FirstListingParts, name: string, waitMs: number): Promise<string> {
  const isHeard = (): boolean => pool.find(name)?.isHeard === true;
  const heard = Promise.withResolvers<void>();
  const off = pool.onChange(() => isHeard() && heard.resolve());
  if (!isHeard()) await within(waitMs, heard.promise, () => new Error("it has not listed its tools")).catch(() => {});
  off();
  if (!isHeard()) return "its tools are still being read. List the services again in a minute.";
  const held = trust.waitingOn(name).length;
  return `${pool.find(name)?.tools.length ?? 0} tool(s) available.${held === 0 ? "" : ` ${held} more wait for an operator's approval.`}`;
}
