import type { Bus } from "@rockbot/bus";
import { mcpTopics } from "@rockbot/contracts";
import { mayUseSome, type PolicyHolder } from "@rockbot/policy";

/**
 * Where the broker knows its users, it lets a delegate hear of MCP servers only if the policy has a bridge for them.
 * @param caller one that is no delegate: it has to be allowed a tool of the bridge's
 */
export function mayHearBridge(
  { traits }: Pick<Bus, "traits">,
  policy: PolicyHolder | undefined,
  caller?: string,
): boolean {
  const mayUse = (tool: string): boolean =>
    caller === undefined || policy === undefined || mayUseSome(policy.current(), caller, tool);
  const services = Object.values(policy?.current().document.services ?? {});
  return (
    !traits.verifiesSender ||
    services.some((service) => service?.topic === mcpTopics.invoke && (service.tools ?? ["*"]).some(mayUse))
  );
}
