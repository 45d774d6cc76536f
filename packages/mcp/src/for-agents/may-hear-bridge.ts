import type { Bus } from "@rockbot/bus";
import { mcpTopics } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";

/** Where the broker knows its users, it lets a delegate hear of MCP servers only if the policy has a bridge for them. */
export function mayHearBridge({ traits }: Pick<Bus, "traits">, policy: PolicyHolder | undefined): boolean {
  const services = Object.values(policy?.current().document.services ?? {});
  return !traits.verifiesSender || services.some((service) => service?.topic === mcpTopics.invoke);
}
