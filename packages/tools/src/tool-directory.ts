import { setTimeout } from "node:timers/promises";
import { metrics } from "@opentelemetry/api";
import { startLoop } from "@rockbot/async";
import type { Bus, Logger } from "@rockbot/bus";
import {
  type AnnouncedTool,
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  messages,
  type ToolAnnouncement,
  type ToolGuide,
  type ToolHeartbeat,
} from "@rockbot/contracts";
import { announceTopic, HEARTBEAT_MS, PROBE_TOPIC } from "./announce-tools.ts";
import type { Identity } from "./identity.ts";
import { ServiceLiveness } from "./service-liveness.ts";

/** An instance that has not been heard of for this long may be gone: the bus is asked. */
const LEASE_MS = 3 * HEARTBEAT_MS;
/** A name that was announced within this time and is not now is `unavailable`, not unknown. */
const REMEMBER_MS = 10 * 60_000;
/** How long services get to answer the probe at the start, at most. */
const DISCOVERY_MS = 250;
/** How long services get to answer a later probe. */
const ANSWER_MS = 200;
/** Discovery is over once nothing new has come for this long. */
const QUIET_MS = 60;
/** Probes of one process are at least this far apart. */
const PROBE_INTERVAL_MS = 100;
const MAX_SERVICES = 1_000;
const MAX_REMEMBERED = 10_000;
const MAX_UNFINISHED = 64;

export interface FoundTool extends AnnouncedTool {
  readonly service: string;
}

export interface ToolDirectoryOptions {
  readonly source: string;
  readonly identity: Identity;
  readonly log: Logger;
  readonly onFound: (tool: FoundTool) => void;
  readonly onLost: (name: string) => void;
}

interface ServiceView {
  /** Of the instance whose list this is; a later start's list wins. */
  epoch: number;
  hash: string;
  tools: readonly AnnouncedTool[];
  guides: readonly ToolGuide[];
  /** By name: when each instance was last heard of, and its epoch. */
  readonly instances: Map<string, { readonly seen: number; readonly epoch: number }>;
}

/** What is served on a bus, as heard from announcements. A tool's name belongs to whoever announced it first, until that service is gone. */
export class ToolDirectory implements AsyncDisposable {
  readonly #bus: Bus;
  readonly #options: ToolDirectoryOptions;
  readonly #services = new Map<string, ServiceView>();
  readonly #holders = new Map<string, FoundTool>();
  readonly #lastSeen = new Map<string, number>();
  readonly #unfinished = new Map<string, (ToolAnnouncement | undefined)[]>();
  readonly #stack = new AsyncDisposableStack();
  readonly #liveness: ServiceLiveness;
  readonly #quarantined = metrics.getMeter("@rockbot/tools").createCounter("rockbot.tool.announcements.quarantined", {
    description: "Announced tools whose name another service holds, or that are not the service's to offer.",
  });
  #discovered: Promise<void> = Promise.resolve();
  #lastNews = Number.NEGATIVE_INFINITY;
  #lastProbe = Number.NEGATIVE_INFINITY;

  constructor(bus: Bus, options: ToolDirectoryOptions) {
    this.#bus = bus;
    this.#options = options;
    this.#liveness = new ServiceLiveness(bus);
  }

  /** Resolves once the directory listens and has asked who is there. */
  async open(): Promise<void> {
    this.#stack.use(
      await this.#bus.subscribe({ name: `directory.${this.#options.source}`, topics: [announceTopic("*")], kind: "copy" }, async (message) =>
        this.#hear(message),
      ),
    );
    await this.#probe();
    this.#discovered = this.#waitFor(DISCOVERY_MS, (quietMs) => quietMs >= QUIET_MS);
    this.#stack.use(startLoop(HEARTBEAT_MS / 2, () => this.#sweep()));
  }

  /** Resolves once the services that were up have had time to announce themselves. */
  discovered(): Promise<void> {
    return this.#discovered;
  }

  /** Sorted by name. A service that offers no tool now shows its guides to everybody, another to whom `mayUse` says may use one. */
  guidesOf(mayUse: (service: string) => boolean): readonly ToolGuide[] {
    const shown = [...this.#services].filter(([service, { tools }]) => tools.length === 0 || mayUse(service));
    const byName = new Map(shown.flatMap(([, { guides }]) => guides.map((guide) => [guide.name, guide])));
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Whether a service announced the name within the last 10 minutes. */
  remembers(name: string): boolean {
    return this.#holders.has(name) || performance.now() - (this.#lastSeen.get(name) ?? Number.NEGATIVE_INFINITY) < REMEMBER_MS;
  }

  /** Whether a service says that tools whose names begin so may come. Case does not matter. */
  awaits(name: string): boolean {
    const lower = name.toLowerCase();
    const guides = [...this.#services.values()].flatMap((view) => view.guides);
    return guides.some(({ awaited = [] }) => awaited.some((beginning) => lower.startsWith(beginning.toLowerCase())));
  }

  /** The service that a tool's name belongs to now. */
  holderOf(name: string): string | undefined {
    return this.#holders.get(name)?.service;
  }

  /** Asks again who is there, unless it has just asked, and waits until the tool is announced or ANSWER_MS are over. */
  async lookFor(name: string): Promise<void> {
    if (performance.now() - this.#lastProbe >= PROBE_INTERVAL_MS) await this.#probe();
    await this.#waitFor(this.#lastProbe + ANSWER_MS - performance.now(), () => this.#holders.has(name));
  }

  /** Whether somebody takes calls for the tool now, as far as can be known; see ServiceLiveness. */
  isServed(tool: FoundTool): boolean | Promise<boolean> {
    return this.#liveness.isServed(tool.subscription);
  }

  /** The service has just answered. */
  sawAlive(tool: FoundTool): void {
    this.#liveness.saw(tool.subscription);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  async #probe(service: string | null = null): Promise<void> {
    if (service === null) this.#lastProbe = performance.now();
    const body = encodeMessage("ToolAnnounceProbe", { service });
    try {
      const { source } = this.#options;
      const probe = createEnvelope({ topic: PROBE_TOPIC, type: messages.ToolAnnounceProbe.type, source, ttlMs: LEASE_MS, body });
      await this.#bus.publish(probe, { timeoutMs: HEARTBEAT_MS });
    } catch (error) {
      this.#options.log.debug({ error: String(error) }, "probe not sent"); // heartbeats tell the same, later
    }
  }

  /** Waits `ms`, or until `isEnough`, which is told how long nothing new has come since the first news of this wait. */
  async #waitFor(ms: number, isEnough: (quietMs: number) => boolean): Promise<void> {
    const start = performance.now();
    for (let now = start; now - start < ms && !isEnough(this.#lastNews > start ? now - this.#lastNews : 0); now = performance.now()) {
      await setTimeout(5);
    }
  }

  #hear(message: Envelope): void {
    const { topic, type, body } = message;
    if (topic === PROBE_TOPIC || !this.#options.identity.isFrom(serviceOf(topic), message, "announcement")) return;
    if (type === messages.ToolHeartbeat.type) {
      const heartbeat = decodeMessage("ToolHeartbeat", body);
      if (heartbeat.ok && topic === announceTopic(heartbeat.value.service)) this.#onHeartbeat(heartbeat.value);
    } else if (type === messages.ToolAnnouncement.type) {
      const page = decodeMessage("ToolAnnouncement", body);
      if (page.ok && topic === announceTopic(page.value.service)) this.#onPage(page.value);
    }
  }

  #onHeartbeat({ service, instance, epoch, hash, isLeaving = false }: ToolHeartbeat): void {
    const view = this.#services.get(service);
    if (isLeaving) {
      if (view === undefined) return;
      view.instances.delete(instance);
      forgetEpochOfLeavers(view);
      if (view.instances.size === 0) this.#withdraw(service, view);
      else this.#liveness.doubt(subscriptionOf(service, view)); // the bus knows who is left
      return;
    }
    if (view === undefined || (hash !== view.hash && epoch >= view.epoch)) void this.#probe(service);
    view?.instances.set(instance, { seen: performance.now(), epoch });
  }

  #onPage(page: ToolAnnouncement): void {
    const key = `${page.service} ${page.instance} ${page.hash} ${page.pages}`;
    const pages = this.#unfinished.get(key) ?? new Array<ToolAnnouncement | undefined>(page.pages).fill(undefined);
    if (page.page >= pages.length) return;
    pages[page.page] = page;
    if (pages.every((received) => received !== undefined)) {
      this.#unfinished.delete(key);
      this.#apply(page, pages);
    } else {
      this.#unfinished.set(key, pages);
      const oldest = this.#unfinished.keys().next().value;
      if (this.#unfinished.size > MAX_UNFINISHED && oldest !== undefined) this.#unfinished.delete(oldest);
    }
  }

  #apply({ service, instance, epoch, hash }: ToolAnnouncement, pages: ToolAnnouncement[]): void {
    const now = performance.now();
    const view = this.#services.get(service);
    if (view === undefined && this.#services.size >= MAX_SERVICES) return;
    if (view !== undefined && (view.hash === hash || epoch < view.epoch)) {
      view.instances.set(instance, { seen: now, epoch });
      return;
    }
    const instances = view?.instances ?? new Map<string, { seen: number; epoch: number }>();
    const tools = pages.flatMap((page) => page.tools);
    this.#services.set(service, { epoch, hash, tools, guides: pages.flatMap((page) => page.guides), instances: instances.set(instance, { seen: now, epoch }) });
    for (const { name } of view?.tools ?? []) if (!tools.some((tool) => tool.name === name)) this.#drop(service, name);
    for (const tool of tools) if (this.#mayOffer(service, tool)) this.#hold(service, tool);
    this.#lastNews = performance.now();
  }

  #mayOffer(service: string, tool: AnnouncedTool): boolean {
    if (this.#options.identity.mayOffer(service, tool)) return true;
    this.#quarantined.add(1, { service });
    this.#options.log.warn({ tool: tool.name, service, topic: tool.topic }, "a tool is not one that the policy lets its service offer: it is not listed");
    return false;
  }

  #hold(service: string, tool: AnnouncedTool): void {
    const holder = this.#holders.get(tool.name);
    if (holder !== undefined && holder.service !== service) {
      this.#quarantined.add(1, { service });
      this.#options.log.warn({ tool: tool.name, holder: holder.service, newcomer: service }, "a tool's name is taken: the newcomer is not listed");
      return;
    }
    if (holder !== undefined) this.#drop(service, tool.name);
    const found: FoundTool = { ...tool, service };
    this.#holders.set(tool.name, found);
    this.#options.onFound(found);
  }

  #drop(service: string, name: string): void {
    if (this.#holders.get(name)?.service !== service) return;
    this.#holders.delete(name);
    this.#lastSeen.set(name, performance.now());
    const oldest = this.#lastSeen.keys().next().value;
    if (this.#lastSeen.size > MAX_REMEMBERED && oldest !== undefined) this.#lastSeen.delete(oldest);
    this.#options.onLost(name);
  }

  #withdraw(service: string, view: ServiceView): void {
    this.#services.delete(service);
    for (const { name } of view.tools) this.#drop(service, name);
    // Names that others announced meanwhile, and that this service held, are theirs now.
    for (const [other, { tools }] of this.#services)
      for (const tool of tools) if (!this.#holders.has(tool.name) && this.#options.identity.mayOffer(other, tool)) this.#hold(other, tool);
    this.#lastNews = performance.now();
  }

  /** Withdraws services whose every lease is over and who have no consumer. While the bus is away nobody can be heard, so nobody is withdrawn. */
  async #sweep(): Promise<void> {
    if (!this.#bus.isReady) return;
    const now = performance.now();
    for (const [service, view] of [...this.#services]) {
      const lapsed = [...view.instances].filter(([, { seen }]) => now - seen > LEASE_MS);
      if (lapsed.length < view.instances.size) {
        for (const [instance] of lapsed) view.instances.delete(instance);
        forgetEpochOfLeavers(view);
      } else if (!(await this.#liveness.isServed(subscriptionOf(service, view))) && this.#services.get(service) === view) this.#withdraw(service, view);
    }
  }
}

/** A list is of use while one who has it is there: when the latest start has left, an earlier one's list is the next. */
function forgetEpochOfLeavers(view: ServiceView): void {
  view.epoch = Math.max(0, ...[...view.instances.values()].map(({ epoch }) => epoch));
}

const subscriptionOf = (service: string, { tools }: ServiceView): string => tools[0]?.subscription ?? service;

const serviceOf = (topic: string): string => topic.slice(announceTopic("").length);
