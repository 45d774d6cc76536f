import { setTimeout } from "node:timers/promises";
import type { Bus } from "@rockbot/bus";
import { decodeMessage, Header, messages } from "@rockbot/contracts";
import { HEARTBEAT_MS } from "../limits.ts";
import { METERED } from "../messages/message-meter.ts";
import { announceTopic } from "./announce-tools.ts";

/** More than anybody has: who announces more is not looked at. */
const MAX_SERVICES = 1_000;

/**
 * Listens for as long as each instance of a service takes to be heard of. An instance of an older release does not say
 * its revision, which is `none` then.
 * @returns by service, sorted: the revisions of the policy that its instances go by
 */
export async function heardPolicies(bus: Bus): Promise<ReadonlyMap<string, readonly string[]>> {
  const heard = new Map<string, Map<string, string>>();
  {
    await using _heartbeats = await bus.subscribe(
      { name: "policies", topics: [announceTopic("*")], kind: "copy", ...METERED },
      async ({ type, body, headers }) => {
        const heartbeat = type === messages.ToolHeartbeat.type ? decodeMessage("ToolHeartbeat", body) : undefined;
        if (!heartbeat?.ok || (heard.size >= MAX_SERVICES && !heard.has(heartbeat.value.service))) return;
        const { service, instance, isLeaving } = heartbeat.value;
        const instances = heard.get(service) ?? new Map<string, string>();
        heard.set(service, instances);
        if (isLeaving) instances.delete(instance);
        else instances.set(instance, headers[Header.Policy] ?? "none");
      },
    );
    await setTimeout(2 * HEARTBEAT_MS);
  }
  const sorted = [...heard].filter(([, instances]) => instances.size > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(sorted.map(([service, instances]) => [service, [...new Set(instances.values())].sort()]));
}
