import { type Bus, createRequester, type Logger, type Requester, SubscriptionTakenError } from "@rockbot/bus";
import { type Envelope, newId } from "@rockbot/contracts";
import { type JournalStore, leaseSlot, type SlotLease } from "@rockbot/records/journal";
import type { MessageMeter } from "../../messages/message-meter.ts";
import { callNamedIn } from "../../messages/reply.ts";
import { instanceNames, underFreeName } from "./instance-names.ts";
import { progressListener } from "./progress-listener.ts";

export interface StationOptions {
  readonly agent: string;
  readonly instance: string | undefined;
  readonly results: "result" | "copy";
  readonly journals: JournalStore | undefined;
  readonly log: Logger;
  readonly isGenuineProgress: (toolName: string, message: Envelope) => boolean;
  readonly messageMeter: MessageMeter;
  readonly onStray: (correlationId: string | undefined) => void;
}

/** A caller's name on the bus, and what comes there. */
export interface Station extends AsyncDisposable {
  /** `agent`, or `agent.instance`. */
  readonly address: string;
  readonly requester: Requester;
  readonly progress: ReturnType<typeof progressListener>;
  /** Resolves when somebody else has the name; undefined if it is configured. */
  readonly lost: Promise<void> | undefined;
}

/** Where a caller's results come. */
export const resultTopic = (address: string): string => `tool.result.${address}`;
/** Where a caller's results of scripts come: the original keeps them apart. */
export const scriptResultTopic = (address: string): string => `script.result.${address}`;

/**
 * Takes the configured instance's name, or leases one if there are journals. Where that fails it takes a random one,
 * which nobody finds again.
 *
 * Without either, the first process of an agent has the agent's own name, so that it finds it again after a restart.
 * Every further process is an instance of its own making: with a name for both, each would get the other's answers too,
 * and a third none.
 */
export async function openStation(bus: Bus, options: StationOptions): Promise<Station> {
  const { agent, instance, results, journals, log } = options;
  if (instance !== undefined || results === "copy") return stationAt(bus, options, { instance, kind: results });
  if (journals === undefined) return ownStation(bus, options);
  const lease = await leaseOrWarn(journals, agent, log);
  return lease === undefined
    ? namelessStation(bus, options)
    : stationAt(bus, options, { instance: lease.instance, kind: "result", lease });
}

interface Name {
  readonly instance: string | undefined;
  readonly kind: "result" | "copy";
  readonly lease?: SlotLease | undefined;
}

async function stationAt(
  bus: Bus,
  { agent, isGenuineProgress, messageMeter, onStray }: StationOptions,
  { instance, kind, lease }: Name,
): Promise<Station> {
  const address = addressOf(agent, instance);
  const replyTo = resultTopic(address);
  const alsoHears = [scriptResultTopic(address)];

  await using stack = new AsyncDisposableStack();
  if (lease !== undefined) stack.use(lease);
  const requester = stack.use(
    createRequester(bus, {
      replyTo,
      alsoHears,
      subscription: { name: subscriptionOf(address), kind },
      keyOf: ({ correlationId, body }) => correlationId ?? callNamedIn(body),
      onStray: ({ correlationId }) => onStray(correlationId),
    }),
  );
  const progress = stack.use(
    progressListener(bus, { replyTo, address, isGenuine: isGenuineProgress, meter: messageMeter }),
  );
  const parts = stack.move();
  return { address, requester, progress, lost: lease?.lost, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const addressOf = (agent: string, instance: string | undefined): string =>
  instance === undefined ? agent : `${agent}.${instance}`;

const subscriptionOf = (address: string): string => `result.${address}`;

/** Under a name that nobody finds again. */
const namelessStation = (bus: Bus, options: StationOptions): Promise<Station> =>
  stationAt(bus, options, { instance: newId().slice(0, 12), kind: "copy" });

/** Listens for answers at once: who has a name is seen by that. */
async function ownStation(bus: Bus, options: StationOptions): Promise<Station> {
  const { agent, log } = options;
  // The agent's own name first.
  const station = await underFreeName(bus, [undefined, ...instanceNames(bus)], {
    subscriptionOf: (instance) => subscriptionOf(addressOf(agent, instance)),
    async open(instance) {
      const opened = await stationAt(bus, options, { instance, kind: "result" });
      try {
        await opened.requester.listen();
      } catch (error) {
        if (error instanceof SubscriptionTakenError) {
          await opened[Symbol.asyncDispose]();
          throw error;
        }
        log.debug({ agent, error: String(error) }, "could not listen for answers yet"); // the first call tries again, and says so
      }
      if (instance !== undefined)
        log.info({ agent, instance }, "another process has the agent's name, so this one calls as an instance of it");
      return opened;
    },
  });
  if (station !== undefined) return station;
  log.error({ agent }, "all names of the agent are in use: answers to calls in flight are lost when the connection is");
  return namelessStation(bus, options);
}

async function leaseOrWarn(journals: JournalStore, agent: string, log: Logger): Promise<SlotLease | undefined> {
  let reason = "all are held";
  try {
    const lease = await leaseSlot(journals, agent, { log });
    if (lease !== undefined) return lease;
  } catch (error) {
    reason = error instanceof Error ? error.message : String(error);
  }
  log.error(
    { agent, reason },
    "could not lease an instance name: answers to calls in flight are lost when this process ends",
  );
  return undefined;
}
