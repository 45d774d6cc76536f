import { randomBytes } from "node:crypto";
import { createEnvelope, type Envelope } from "@rockbot/contracts";
import { expect, vi } from "vitest";
import type { Bus, Handler, ParkedMessage, SubscribeOptions } from "../bus.ts";
import { DeadLetterError } from "../bus-errors.ts";

/** How long what is bound to come is waited for. */
export const WAIT = { timeout: 10_000, interval: 10 };

/** A topic and a subscription to it that no other test has. */
export function unique(more: Partial<SubscribeOptions> = {}): { topic: string; options: SubscribeOptions } {
  const id = `t${randomBytes(6).toString("hex")}`;
  return { topic: `conformance.${id}`, options: { name: `conformance-${id}`, topics: [`conformance.${id}`], ...more } };
}

export function replies() {
  const { topic, options } = unique();
  return { replyTo: topic, subscription: { name: `result.${options.name}`, kind: "copy" as const } };
}

export function envelope(topic: string, body: string, more: Partial<Envelope> = {}): Envelope {
  return createEnvelope({
    topic,
    type: "RockBot.Conformance",
    source: "conformance",
    body: Buffer.from(body),
    ...more,
  });
}

export const text = (message: Envelope | undefined): string => Buffer.from(message?.body ?? []).toString();

export function collector(): { messages: Envelope[]; handler: Handler; take(count: number): Promise<Envelope[]> } {
  const messages: Envelope[] = [];
  return {
    messages,
    handler: async (message) => {
      messages.push(message);
    },
    async take(count) {
      await vi.waitFor(() => expect(messages.length).toBeGreaterThanOrEqual(count), WAIT);
      return messages.slice(0, count);
    },
  };
}

/** Parks the messages "0", "1", … in this order. @returns the subscription's name */
export async function park(bus: Bus, count: number): Promise<string> {
  const { topic, options } = unique({ concurrency: 1 });
  await using _ = await bus.subscribe(options, async () => {
    throw new DeadLetterError("no");
  });
  for (let index = 0; index < count; index++) {
    await bus.publish(envelope(topic, String(index)));
    await parked(bus, options.name, index + 1);
  }
  return options.name;
}

export const parked = (bus: Bus, name: string, count: number): Promise<void> =>
  vi.waitFor(async () => expect((await bus.inspect(name, "parked"))?.messages).toBe(count), WAIT);

export async function look(bus: Bus, name: string, limit?: number): Promise<ParkedMessage[]> {
  const seen: ParkedMessage[] = [];
  await bus.visitParked(
    name,
    async (message) => {
      seen.push(message);
      return "keep";
    },
    { limit },
  );
  return seen;
}

/** Waits until the bus has nothing left to do for a subscription. */
export async function settled(bus: Bus, name: string): Promise<void> {
  for (const part of ["main", "retry"] as const) {
    await vi.waitFor(async () => expect((await bus.inspect(name, part))?.messages).toBe(0), WAIT);
  }
}
