import { announcedMcpName } from "@rockbot/contracts";
import { type PolicyHolder, peersOf } from "@rockbot/policy";
import type { BridgedServer } from "../bridged-server.ts";

/** Who asks, as the bus knows it, and on whose behalf. */
export interface Asker {
  readonly name: string;
  readonly caller: string;
}

/** The tools of a server that an asker may see. */
export type ToldTools = (asker: Asker, server: Pick<BridgedServer, "name" | "tools">) => BridgedServer["tools"];

/**
 * An asker sees what it may use, and nothing else. A gateway, which may call for others, sees everything that they may
 * use, and shows each its own.
 */
export function toldTools(policy: Pick<PolicyHolder, "current"> | undefined): ToldTools {
  return ({ name, caller }, server) => {
    if (policy === undefined) return server.tools;
    const { document, decide } = policy.current();
    if (name === caller && peersOf(document).isDelegate(name)) return server.tools;
    return server.tools.filter((tool) => decide({ caller, tool: announcedMcpName(server.name, tool.name) }).isAllowed);
  };
}
