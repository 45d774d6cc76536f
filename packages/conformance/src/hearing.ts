import type { PeerMessage } from "@rockbot/bus-rabbitmq/peer";
import {
  type AnnouncedTool,
  decodeMessage,
  type Messages,
  messages,
  type ToolAnnouncement,
  type ToolHeartbeat,
} from "@rockbot/contracts";

/** The words of a service about itself, to all or to the examiner. */
export class Hearing {
  /** The heartbeats to all, in order of arrival. */
  readonly heartbeats: { readonly at: number; readonly value: ToolHeartbeat }[] = [];
  readonly pages: ToolAnnouncement[] = [];
  /** The messages that could not be read, and why. */
  readonly faults: string[] = [];
  /** What is wrong with the list; undefined if all that came of it can be read. */
  listFault: string | undefined;
  /** The tools of the newest list that was asked for. */
  tools: readonly AnnouncedTool[] = [];
  readonly #service: string;

  constructor(service: string) {
    this.#service = service;
  }

  take(message: PeerMessage): void {
    const { properties, receivedAt } = message;
    if (properties["type"] === messages.ToolHeartbeat.type) {
      const value = this.read("ToolHeartbeat", message);
      if (value !== undefined) this.heartbeats.push({ at: receivedAt, value });
    } else if (properties["type"] === messages.ToolAnnouncement.type) {
      const page = this.read("ToolAnnouncement", message);
      if (page !== undefined) this.pages.push(page);
    }
  }

  /** When each start of an instance was first heard of. */
  startsAt(): readonly number[] {
    const starts = new Map<string, number>();
    for (const { at, value } of this.heartbeats) {
      const start = `${value.instance} ${value.epoch}`;
      if (!starts.has(start)) starts.set(start, at);
    }
    return [...starts.values()];
  }

  /** The message, if it is one of the service; else a fault. */
  read<Name extends "ToolHeartbeat" | "ToolAnnouncement">(
    name: Name,
    { topic, body }: PeerMessage,
  ): Messages[Name] | undefined {
    const read = decodeMessage(name, body);
    if (name === "ToolAnnouncement" && !read.ok) this.listFault ??= read.fault.message;
    if (!read.ok) this.faults.push(`a message on "${topic}" cannot be read: ${read.fault.message}`);
    else if (read.value.service !== this.#service)
      this.faults.push(`a ${name} on "${topic}" says that it is of the service "${read.value.service}"`);
    else return read.value;
    return undefined;
  }
}
