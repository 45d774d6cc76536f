import { randomInt } from "node:crypto";
import type { Bus } from "@rockbot/bus";
import { MAX_INSTANCES, newId } from "@rockbot/contracts";

/** Names for an instance of a user, in the order to try them. Where senders are verified these are those that the broker grants, by lot. Elsewhere it is one that nobody has. */
export function instanceNames({ traits }: Pick<Bus, "traits">): readonly string[] {
  if (!traits.verifiesSender) return [newId().slice(0, 12)];
  const first = randomInt(MAX_INSTANCES);
  return Array.from({ length: MAX_INSTANCES }, (_, index) => String((first + index) % MAX_INSTANCES));
}

/** Whether some process hears by the subscription. A second one would be the successor of the first, and get its answers. */
export const isHeard = async (bus: Pick<Bus, "inspect">, subscription: string): Promise<boolean> =>
  ((await bus.inspect(subscription).catch(() => undefined))?.consumers ?? 0) > 0;
