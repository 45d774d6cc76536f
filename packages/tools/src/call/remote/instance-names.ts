import { randomInt } from "node:crypto";
import { type Bus, SubscriptionTakenError } from "@rockbot/bus";
import { MAX_INSTANCES, newId } from "@rockbot/contracts";

/**
 * Names for an instance of a user, in the order to try them. Where senders are verified these are those that the broker
 * grants, by lot. Elsewhere it is one that nobody has.
 */
export function instanceNames({ traits }: Pick<Bus, "traits">): readonly string[] {
  if (!traits.verifiesSender) return [newId().slice(0, 12)];
  const first = randomInt(MAX_INSTANCES);
  return Array.from({ length: MAX_INSTANCES }, (_, index) => String((first + index) % MAX_INSTANCES));
}

export interface FreeNameOptions<Name, Opened> {
  readonly subscriptionOf: (name: Name) => string;
  /** Rejects with SubscriptionTakenError if another process was quicker. */
  readonly open: (name: Name) => Promise<Opened>;
}

/**
 * Opens what hears by the first name by whose subscription no process hears. A second one would be the successor of the
 * first, and get its answers.
 * @returns undefined if all names are taken
 */
export async function underFreeName<Name, Opened>(
  bus: Pick<Bus, "inspect">,
  names: readonly Name[],
  { subscriptionOf, open }: FreeNameOptions<Name, Opened>,
): Promise<Opened | undefined> {
  for (const name of names) {
    const state = await bus.inspect(subscriptionOf(name)).catch(() => undefined);
    if ((state?.consumers ?? 0) > 0) continue;
    try {
      return await open(name);
    } catch (error) {
      if (!(error instanceof SubscriptionTakenError)) throw error;
    }
  }
  return undefined;
}
