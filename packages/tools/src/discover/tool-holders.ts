import { metrics } from "@opentelemetry/api";
import type { Logger } from "@rockbot/bus";
import type { AnnouncedTool } from "@rockbot/contracts";
import type { Identity } from "../messages/identity.ts";

/** A name that was announced within this time and is not now is `unavailable`, not unknown. */
const REMEMBER_MS = 10 * 60_000;
const MAX_REMEMBERED = 10_000;

/** A tool that is announced, with the service that holds its name. */
export interface FoundTool extends AnnouncedTool {
  readonly service: string;
}

export interface ToolHoldersOptions {
  readonly identity: Identity;
  readonly log: Logger;
  readonly onFound: (tool: FoundTool) => void;
  readonly onLost: (name: string) => void;
}

/**
 * Which service each tool's name belongs to: the one that announced it first, until that service is gone or offers it
 * no more.
 */
export class ToolHolders {
  readonly #options: ToolHoldersOptions;
  readonly #held = new Map<string, FoundTool>();
  readonly #lastSeen = new Map<string, number>();
  readonly #quarantined = metrics.getMeter("@rockbot/tools").createCounter("rockbot.tool.announcements.quarantined", {
    description: "Announced tools whose name another service holds, or that are not the service's to offer.",
  });

  constructor(options: ToolHoldersOptions) {
    this.#options = options;
  }

  has(name: string): boolean {
    return this.#held.has(name);
  }

  /** The service that a tool's name belongs to now. */
  holderOf(name: string): string | undefined {
    return this.#held.get(name)?.service;
  }

  /** Tells whether a service announced the name within the last 10 minutes. */
  remembers(name: string): boolean {
    return (
      this.#held.has(name) || performance.now() - (this.#lastSeen.get(name) ?? Number.NEGATIVE_INFINITY) < REMEMBER_MS
    );
  }

  /** Takes the tools that a service offers now, in the place of those that it offered before. */
  replace(service: string, before: readonly AnnouncedTool[], now: readonly AnnouncedTool[]): void {
    const names = new Set(now.map(({ name }) => name));
    for (const { name } of before) if (!names.has(name)) this.#drop(service, name);
    const same = new Set(before);
    for (const tool of now)
      if (!(same.has(tool) && this.holderOf(tool.name) === service) && this.#mayOffer(service, tool))
        this.#hold(service, tool);
  }

  /** Lets go of the names of a service that is gone. Names that others announce meanwhile are theirs from now on. */
  release(
    service: string,
    tools: readonly AnnouncedTool[],
    others: Iterable<readonly [service: string, tools: readonly AnnouncedTool[]]>,
  ): void {
    for (const { name } of tools) this.#drop(service, name);
    for (const [other, theirs] of others)
      for (const tool of theirs)
        if (!this.#held.has(tool.name) && this.#options.identity.mayOffer(other, tool)) this.#hold(other, tool);
  }

  #mayOffer(service: string, tool: AnnouncedTool): boolean {
    if (this.#options.identity.mayOffer(service, tool)) return true;
    this.#quarantined.add(1, { service });
    this.#options.log.warn(
      { tool: tool.name, service, topic: tool.topic },
      "left out a tool that the policy does not let its service offer",
    );
    return false;
  }

  #hold(service: string, tool: AnnouncedTool): void {
    const holder = this.#held.get(tool.name);
    if (holder !== undefined && holder.service !== service) {
      this.#quarantined.add(1, { service });
      this.#options.log.warn(
        { tool: tool.name, holder: holder.service, newcomer: service },
        "left out a tool whose name another service has taken",
      );
      return;
    }
    if (holder !== undefined) this.#drop(service, tool.name);
    const found: FoundTool = { ...tool, service };
    this.#held.set(tool.name, found);
    this.#options.onFound(found);
  }

  #drop(service: string, name: string): void {
    if (this.holderOf(name) !== service) return;
    this.#held.delete(name);
    this.#lastSeen.set(name, performance.now());
    const oldest = this.#lastSeen.keys().next().value;
    if (this.#lastSeen.size > MAX_REMEMBERED && oldest !== undefined) this.#lastSeen.delete(oldest);
    this.#options.onLost(name);
  }
}
