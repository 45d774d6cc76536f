import { randomBytes } from "node:crypto";
import { createEnvelope, type Envelope } from "@rockbot/contracts";

/** A word that no other test uses: tests share brokers. */
export const uniqueName = (): string => `t${randomBytes(6).toString("hex")}`;

export function textMessage(topic: string, text: string, more: Partial<Envelope> = {}): Envelope {
  return createEnvelope({ topic, type: "RockBot.Test", source: "test", body: Buffer.from(text), ...more });
}

export const textOf = (message: Envelope): string => Buffer.from(message.body).toString();
