import { REST_PINS } from "@rockbot/mcp/trust";
import type { BridgeApprovals } from "@rockbot/mcp-bridge";
import type { RunningRestTools } from "@rockbot/rest-tools";

/** What operators decide about MCP servers and OpenAPI documents, as if it were one: the names of documents begin with `rest:`. */
export function mergeApprovals(bridge: BridgeApprovals | undefined, rest: RunningRestTools["approvals"] | undefined): BridgeApprovals | undefined {
  if (rest === undefined) return bridge;
  const isOfRest = ({ server }: { readonly server: string }): boolean => server.startsWith(REST_PINS);
  const isOfBridge = (shown: { readonly server: string }): boolean => !isOfRest(shown);
  return {
    async waiting() {
      const [own, others] = await Promise.all([bridge?.waiting(), rest.waiting()]);
      return { tools: [...(own?.tools ?? []), ...others.tools].filter(once()), servers: own?.servers ?? [] };
    },
    async approve({ tools, servers }, by) {
      const own = await bridge?.approve({ tools: tools.filter(isOfBridge), servers }, by);
      const others = await rest.approve({ tools: tools.filter(isOfRest), servers: [] }, by);
      return { approved: [...(own?.approved ?? []), ...others.approved], stale: [...(own?.stale ?? []), ...others.stale] };
    },
    async rejected() {
      const [own, others] = await Promise.all([bridge?.rejected(), rest.rejected()]);
      return { tools: [...(own?.tools ?? []), ...others.tools].filter(once()), servers: own?.servers ?? [] };
    },
    async reject({ tools, servers }, by) {
      const own = await bridge?.reject({ tools: tools.filter(isOfBridge), servers }, by);
      const others = await rest.reject({ tools: tools.filter(isOfRest), servers: [] }, by);
      return { done: [...(own?.done ?? []), ...others.done], stale: [...(own?.stale ?? []), ...others.stale] };
    },
    registered: async () => (await bridge?.registered()) ?? [],
    remove: async (servers, by) => (await bridge?.remove(servers, by)) ?? { done: [], stale: servers.map(({ server }) => server) },
  };
}

/** Both may read one store, and would show the same twice. */
function once(): (tool: { readonly server: string; readonly tool: string }) => boolean {
  const seen = new Set<string>();
  return ({ server, tool }) => {
    const key = `${server}\0${tool}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  };
}
