import { type Bus, createRequester, type Logger, type Requester } from "@rockbot/bus";
import { type Envelope, newId } from "@rockbot/contracts";
import { type JournalStore, leaseSlot, type SlotLease } from "@rockbot/records/journal";
import type { MessageMeter } from "../../messages/message-meter.ts";
import { callNamedIn } from "../../messages/reply.ts";
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

/** Where a caller's results of scripts come: the original keeps them apart. */
export const scriptResultTopic = (address: string): string => `script.result.${address}`;

/** Takes the configured instance's name, or leases one if there are journals. Where that fails it takes a random one, which nobody finds again. */
export async function openStation(
  bus: Bus,
  { agent, instance: configured, results, journals, log, isGenuineProgress, messageMeter, onStray }: StationOptions,
): Promise<Station> {
  const mayLease = configured === undefined && journals !== undefined;
  const lease = mayLease ? await leaseOrWarn(journals, agent, log) : undefined;
  const isNameless = mayLease && lease === undefined;
  const instance = isNameless ? newId().slice(0, 12) : (configured ?? lease?.instance);
  const address = instance === undefined ? agent : `${agent}.${instance}`;
  const replyTo = `tool.result.${address}`;
  const alsoHears = [scriptResultTopic(address)];

  await using stack = new AsyncDisposableStack();
  if (lease !== undefined) stack.use(lease);
  const requester = stack.use(
    createRequester(bus, {
      replyTo,
      alsoHears,
      subscription: { name: `result.${address}`, kind: isNameless ? "copy" : results },
      keyOf: ({ correlationId, body }) => correlationId ?? callNamedIn(body),
      onStray: ({ correlationId }) => onStray(correlationId),
    }),
  );
  const progress = stack.use(progressListener(bus, { replyTo, address, isGenuine: isGenuineProgress, meter: messageMeter }));
  const parts = stack.move();
  return { address, requester, progress, lost: lease?.lost, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function leaseOrWarn(journals: JournalStore, agent: string, log: Logger): Promise<SlotLease | undefined> {
  let reason = "all are held";
  try {
    const lease = await leaseSlot(journals, agent, { log });
    if (lease !== undefined) return lease;
  } catch (error) {
    reason = error instanceof Error ? error.message : String(error);
  }
  log.error({ agent, reason }, "could not lease an instance name: answers to calls in flight are lost when this process ends");
  return undefined;
}
