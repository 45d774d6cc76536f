import { announcedMcpName, announcedMcpPrefix, type McpServerSummary, mcpServerSummary } from "@rockbot/contracts";
import { mayUseSome, type PolicyHolder } from "@rockbot/policy";
import type { ToolRegistry } from "@rockbot/tools";
import type { ServerIndex } from "./server-index.ts";

/** The index of servers as one caller may see it: with the tools that it may use. */
export interface VisibleIndex {
  readonly servers: readonly McpServerSummary[];
  /** Case does not matter. */
  find(serverName: string): McpServerSummary | undefined;
  mayUse(serverName: string, toolName: string): boolean;
  /** Tells whether the policy would let the caller use anything of a server of the name. */
  mayUseSome(serverName: string): boolean;
  /** Tells whether a server of the name has not listed its tools yet, and the caller may use some of them. */
  isAwaited(serverName: string): boolean;
}

export interface VisibleIndexOptions {
  /** @default all is seen */
  readonly policy: Pick<PolicyHolder, "current"> | undefined;
  /** Know which tools are dangerous. */
  readonly tools: Pick<ToolRegistry, "get">;
  /** Tells whether tools whose names begin so may come. */
  readonly awaits: (toolName: string) => boolean;
}

/** The part of the index that each caller may see. A server of whose tools it may use none is not there for it. */
export function visibleIndex(
  index: Pick<ServerIndex, "servers" | "find">,
  { policy, tools, awaits }: VisibleIndexOptions,
): (caller: string) => VisibleIndex {
  return (caller) => {
    function mayUse(serverName: string, toolName: string): boolean {
      const tool = announcedMcpName(serverName, toolName);
      return policy?.current().decide({ caller, tool, isDangerous: tools.get(tool)?.dangerous }).isAllowed ?? true;
    }
    const mayUseSomeOf = (serverName: string): boolean =>
      policy === undefined || mayUseSome(policy.current(), caller, `${announcedMcpPrefix(serverName)}*`);
    function narrowed(server: McpServerSummary): McpServerSummary[] {
      const { serverName, displayName, toolNames = [] } = server;
      const usable = toolNames.filter((name) => mayUse(serverName, name));
      // A summary is free text, which may name any tool.
      if (policy === undefined || (usable.length === toolNames.length && toolNames.length > 0)) return [server];
      return usable.length === 0 ? [] : [mcpServerSummary(serverName, usable, displayName)];
    }
    return {
      get servers() {
        return index.servers.flatMap(narrowed);
      },
      find(serverName) {
        const server = index.find(serverName);
        return server === undefined ? undefined : narrowed(server)[0];
      },
      mayUse,
      mayUseSome: mayUseSomeOf,
      isAwaited: (serverName) => awaits(announcedMcpPrefix(serverName)) && mayUseSomeOf(serverName),
    };
  };
}
