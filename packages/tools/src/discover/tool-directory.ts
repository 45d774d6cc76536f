import { setTimeout } from "node:timers/promises";
import { OldestFirstMap, startLoop } from "@rockbot/base";
import type { Bus } from "@rockbot/bus";
import {
  type AnnouncedTool,
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  Header,
  type Messages,
  messages,
  newId,
  parseJson,
  type ToolAnnouncement,
  type ToolGuide,
  type ToolHeartbeat,
  type ToolListChange,
} from "@rockbot/contracts";
import { HEARTBEAT_MS, LEASE_MS, MAX_LIST_BYTES } from "../limits.ts";
import { METERED } from "../messages/message-meter.ts";
import { announceTopic, listTopic, PROBE_TOPIC } from "./announce-tools.ts";
import { observeDirectory } from "./directory-metrics.ts";
import { ServiceLiveness } from "./service-liveness.ts";
import { type FoundTool, ToolHolders, type ToolHoldersOptions } from "./tool-holders.ts";
import { UnfinishedLists } from "./unfinished-lists.ts";

/** Services that are there have this long to answer the probe at the start, and longer where the bus takes long. */
const FIRST_ANSWER_MS = 250;
/**
 * Every service that is there has answered once nothing new has come for this long, or for twice the time that our own
 * probe took.
 */
const QUIET_MS = 60;
/** How long discovery waits for answers, and for each list from when it is known of. */
const DISCOVERY_MS = 5_000;
/** How long a call waits for its tool to be announced. */
const ANSWER_MS = 200;
/** How long it waits for each list that is on its way. */
const LIST_MS = 2_000;
/** Probes of one process are at least this far apart. A service that comes announces itself without a probe. */
const PROBE_INTERVAL_MS = 1_000;
/**
 * The caller asks again for a list that has not come after this time, then after twice as long, up to the longest. So a
 * caller that lost sight of a service while the broker was parted sees it again soon after the broker is whole. A
 * service that is slower to send 32 MiB is not asked again, since the wait starts anew with each page that comes.
 */
const ASK_AGAIN_MS = 1_000;
const MAX_ASK_AGAIN_MS = 4_000;
const MAX_SERVICES = 1_000;
/** The most instances of one service that are kept while its list is on its way. */
const MAX_INSTANCES = 1_000;
/** The most characters of a list's fault. */
const MAX_FAULT = 500;

export interface ToolDirectoryOptions extends ToolHoldersOptions {
  readonly source: string;
}

/** A caller's knowledge of the services that are there. */
export interface Discovery {
  /** True if the bus has carried the question, and each known service has sent a list that can be read. */
  readonly isComplete: boolean;
  /** The services whose tools are known, sorted by name. */
  readonly services: readonly string[];
  /**
   * The services that are there and whose list, or a newer one, has not come yet, sorted by name. It is asked for until
   * it comes.
   */
  readonly missing: readonly MissingList[];
}

/** A service whose list of tools has not arrived in full. */
export interface MissingList {
  readonly service: string;
  /** How many pages the list has, if the service has said it. */
  readonly pages: number | undefined;
  readonly pagesHad: number;
  /** Why the list that the service sends cannot be used; undefined if none has come. Waiting does not help. */
  readonly fault: string | undefined;
}

/** A service that is there, or has left within the last hour. */
export interface HeardService {
  readonly service: string;
  readonly instances: number;
  /** How many tools it offers. */
  readonly tools: number;
  /** True if a consumer takes its calls now, as far as the bus can tell. */
  readonly isServed: boolean;
  /** Why its list of tools cannot be used; undefined if it can be, or has not come. */
  readonly fault: string | undefined;
  /** The revisions of the policy that its instances go by, sorted. */
  readonly policies: readonly string[];
  /** Requests at the broker that no instance has taken; undefined if it does not say. */
  readonly backlog: number | undefined;
  readonly reports: readonly InstanceReport[];
}

/** The last words of an instance on itself; what is left out it does not say. */
export interface InstanceReport extends Pick<ToolHeartbeat, "instance" | "epoch" | "version" | "calls" | "problems"> {}

/** How long a service is remembered that has left. */
const LEFT_MS = 3_600_000;

/** A list that an instance has and this process has not. */
interface WantedList {
  readonly epoch: number;
  readonly hash: string;
  readonly pages: number | undefined;
  /** Since when the service has had a list that is not here. */
  readonly since: number;
  /** When an instance was last heard of that has it. */
  seen: number;
  /** The services that were heard of while there was no list at all, so that one of them may leave. */
  readonly heard: Map<string, { readonly seen: number; readonly epoch: number }>;
  askAt: number;
  askAgainMs: number;
  /** Why what came of it cannot be used. */
  fault?: string;
}

interface ServiceView {
  /** The epoch of the instance whose list this is; a later start's list wins. */
  epoch: number;
  hash: string;
  tools: readonly AnnouncedTool[];
  guides: readonly ToolGuide[];
  /** The bytes of its messages; a change adds its own, whatever it replaces. */
  bytes: number;
  /** The instances by name. */
  readonly instances: Map<string, InstanceView>;
}

interface InstanceView extends Omit<InstanceReport, "instance"> {
  /** When it was last heard of. */
  readonly seen: number;
  readonly policy?: string;
}

/** The tools that are served on a bus, as heard from announcements. */
export class ToolDirectory implements AsyncDisposable {
  readonly #bus: Bus;
  readonly #options: ToolDirectoryOptions;
  readonly #services = new Map<string, ServiceView>();
  /** When each service left, of those that have. */
  readonly #left = new OldestFirstMap<string, number>();
  readonly #holders: ToolHolders;
  /** The wanted lists by service. */
  readonly #wanted = new Map<string, WantedList>();
  readonly #unfinished = new UnfinishedLists();
  /** Where services answer this process alone. */
  readonly #replyTo: string;
  readonly #stack = new AsyncDisposableStack();
  readonly #liveness: ServiceLiveness;
  readonly #observed: Disposable;
  #answered: Promise<void> = Promise.resolve();
  /** How long our own first probe took to come back; undefined while it has not. */
  #echoMs: number | undefined;
  #lastNews = Number.NEGATIVE_INFINITY;
  #lastProbe = Number.NEGATIVE_INFINITY;

  constructor(bus: Bus, options: ToolDirectoryOptions) {
    this.#bus = bus;
    this.#options = options;
    this.#holders = new ToolHolders(options);
    this.#liveness = new ServiceLiveness(bus);
    this.#observed = observeDirectory(() => ({
      known: this.#services.size,
      missing: this.#wanted.size,
      silentMs: this.#silentMs(),
    }));
    this.#replyTo = `tool.result.${options.source}.${newId().slice(0, 12)}`;
  }

  /** Resolves once the directory listens and has asked who is there. */
  async open(): Promise<void> {
    this.#stack.use(
      await this.#bus.subscribe(
        {
          name: `directory.${this.#options.source}`,
          topics: [announceTopic("*"), this.#replyTo],
          kind: "copy",
          ...METERED,
        },
        async (message) => this.#hear(message),
      ),
    );
    await this.#probeAll();
    this.#answered = this.#haveAnswered();
    this.#stack.use(startLoop(HEARTBEAT_MS / 2, () => this.#sweep()));
  }

  /**
   * Resolves once the services that are there have answered and their lists have come, or have not come in this time;
   * says which.
   */
  async discovered(timeoutMs: number = DISCOVERY_MS): Promise<Discovery> {
    await this.#answered;
    await this.#waitFor(timeoutMs, () => !this.#awaitsLists(timeoutMs));
    const services = [...this.#services.keys()].sort();
    return { isComplete: this.#echoMs !== undefined && this.#wanted.size === 0, services, missing: this.missing };
  }

  /** True if services could say now what they offer. */
  get canAsk(): boolean {
    return this.#bus.isReady;
  }

  /** The lists that are not here yet. */
  get missing(): readonly MissingList[] {
    return [...this.#wanted]
      .map(([service, { hash, pages, fault }]) => {
        const pagesHad = pages === undefined ? 0 : this.#unfinished.pagesHad({ service, hash, pages });
        return { service, pages, pagesHad, fault };
      })
      .sort((a, b) => (a.service < b.service ? -1 : 1));
  }

  /** The services that are there, and those that have left lately, sorted by name. */
  async heard(): Promise<readonly HeardService[]> {
    this.#left.deleteOldestWhile((at) => performance.now() - at > LEFT_MS || this.#left.size > MAX_SERVICES);
    const names = new Set([...this.#services.keys(), ...this.#wanted.keys(), ...[...this.#left].map(([name]) => name)]);
    return Promise.all([...names].sort().map((service) => this.#heardOf(service)));
  }

  async #heardOf(service: string): Promise<HeardService> {
    const [view, wanted] = [this.#services.get(service), this.#wanted.get(service)];
    const policies = [...(view?.instances.values() ?? [])].flatMap(({ policy }) => policy ?? []);
    const state = view === undefined ? undefined : await this.#liveness.stateOf(subscriptionOf(service, view));
    const heard = view?.instances.size ?? wanted?.heard.size ?? 0;
    return {
      service,
      instances: Math.min(heard, state?.consumers ?? heard), // the bus knows sooner that one is gone
      tools: view?.tools.length ?? 0,
      isServed: view === undefined ? wanted !== undefined : state?.consumers !== 0,
      fault: wanted?.fault,
      policies: [...new Set(policies)].sort(),
      backlog: state?.messages,
      reports: this.reports().get(service) ?? [],
    };
  }

  /** By service: what its instances say of themselves. */
  reports(): ReadonlyMap<string, readonly InstanceReport[]> {
    const said = ([instance, { seen: _, policy: __, ...rest }]: [string, InstanceView]) => ({ instance, ...rest });
    return new Map([...this.#services].map(([service, { instances }]) => [service, [...instances].map(said)]));
  }

  /**
   * Sorted by name. A service that offers no tool now shows its guides to everybody, another to whom `mayUse` says may
   * use one.
   */
  guidesOf(mayUse: (service: string) => boolean): readonly ToolGuide[] {
    const shown = [...this.#services].filter(([service, { tools }]) => tools.length === 0 || mayUse(service));
    const byName = new Map(shown.flatMap(([, { guides }]) => guides.map((guide) => [guide.name, guide])));
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** What a service announces to teach its tools. */
  guidesFrom(service: string): readonly ToolGuide[] {
    return this.#services.get(service)?.guides ?? [];
  }

  /** Tells whether a service of the name is there, and its list. */
  knows(service: string): boolean {
    return this.#services.has(service);
  }

  /** What the first guide of a service says in a sentence. */
  summaryOf(service: string): string | undefined {
    return this.#services.get(service)?.guides[0]?.summary;
  }

  /** Tells whether a service announced the name within the last 10 minutes. */
  remembers(name: string): boolean {
    return this.#holders.remembers(name);
  }

  /** True if a service says that tools whose names begin so may come. Case does not matter. */
  awaits(name: string): boolean {
    const lower = name.toLowerCase();
    const guides = [...this.#services.values()].flatMap((view) => view.guides);
    return guides.some(({ awaited = [] }) => awaited.some((beginning) => lower.startsWith(beginning.toLowerCase())));
  }

  /** The words of a service on a tool that it holds back until an operator approves it. Case does not matter. */
  heldBack(name: string): NonNullable<ToolGuide["held"]>[number] | undefined {
    const lower = name.toLowerCase();
    return this.held.find((tool) => tool.name.toLowerCase() === lower);
  }

  get held(): NonNullable<ToolGuide["held"]> {
    return [...this.#services.values()].flatMap((view) => view.guides.flatMap((guide) => guide.held ?? []));
  }

  /** The service that a tool's name belongs to now. */
  holderOf(name: string): string | undefined {
    return this.#holders.holderOf(name);
  }

  /**
   * Asks again who is there, unless it has lately, and waits until the tool is announced, or nobody can be waited for
   * any more.
   */
  async lookFor(name: string): Promise<void> {
    if (performance.now() - this.#lastProbe >= PROBE_INTERVAL_MS) await this.#probeAll();
    await this.#waitFor(ANSWER_MS, () => this.#holders.has(name));
    await this.#waitFor(LIST_MS, () => this.#holders.has(name) || !this.#awaitsLists(LIST_MS));
  }

  /**
   * Tells whether a list is missing that may still come within the time. One that came and cannot be used is not waited
   * for.
   */
  #awaitsLists(ms: number): boolean {
    const now = performance.now();
    return [...this.#wanted.values()].some(({ since, fault }) => fault === undefined && now - since < ms);
  }

  /** Tells whether a consumer takes calls for the tool now, as far as the bus can tell; see ServiceLiveness. */
  isServed(tool: FoundTool): boolean | Promise<boolean> {
    return this.#liveness.isServed(tool.subscription);
  }

  /**
   * Tells whether the bus would have to be asked, and an instance of the tool's service has said of late that it is
   * there. One that was killed since looks alive.
   */
  isOnlyHeard({ service, subscription }: FoundTool): boolean {
    if (this.#liveness.isBelieved(subscription)) return false;
    const since = performance.now() - LEASE_MS;
    for (const { seen } of this.#services.get(service)?.instances.values() ?? []) if (seen > since) return true;
    return false;
  }

  /** The service has just answered. */
  sawAlive(tool: FoundTool): void {
    this.#liveness.saw(tool.subscription);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#observed[Symbol.dispose]();
    await this.#stack.disposeAsync();
  }

  /** How long ago the service was heard of that was so least lately; 0 without services. */
  #silentMs(): number {
    const seen = [...this.#services.values()].map(({ instances }) =>
      Math.max(...[...instances.values()].map((instance) => instance.seen)),
    );
    return seen.length === 0 ? 0 : performance.now() - Math.min(...seen);
  }

  /** Asks all services who is there. */
  async #probeAll(): Promise<void> {
    this.#lastProbe = performance.now();
    await this.#ask(PROBE_TOPIC, {});
  }

  async #ask(topic: string, asked: Messages["ToolAnnounceProbe"]): Promise<void> {
    const body = encodeMessage("ToolAnnounceProbe", asked);
    try {
      const { source } = this.#options;
      const probe = createEnvelope({
        topic,
        type: messages.ToolAnnounceProbe.type,
        source,
        replyTo: this.#replyTo,
        ttlMs: LEASE_MS,
        body,
      });
      await this.#bus.publish(probe, { timeoutMs: HEARTBEAT_MS });
    } catch (error) {
      this.#options.log.debug({ error: String(error) }, "could not send a probe"); // heartbeats tell the same, later
    }
  }

  /**
   * Waits until every service that is there has most likely answered the probe. Their answers may be as slow as our own
   * was to come back.
   */
  async #haveAnswered(): Promise<void> {
    await this.#waitFor(DISCOVERY_MS, () => this.#echoMs !== undefined);
    const start = performance.now();
    const isHeard = () => this.#services.size > 0 || this.#wanted.size > 0;
    const quietSince = () => performance.now() - Math.max(start, this.#lastNews);
    const slow = 2 * (this.#echoMs ?? 0);
    await this.#waitFor(
      DISCOVERY_MS,
      () => quietSince() >= (isHeard() ? Math.max(QUIET_MS, slow) : Math.max(FIRST_ANSWER_MS, slow)),
    );
  }

  async #waitFor(ms: number, isEnough: () => boolean): Promise<void> {
    const start = performance.now();
    while (!this.#stack.disposed && performance.now() - start < ms && !isEnough()) await setTimeout(5);
  }

  #hear(message: Envelope): void {
    const { topic, type, headers } = message;
    if (topic === PROBE_TOPIC) {
      if (message.replyTo === this.#replyTo) this.#echoMs ??= performance.now() - this.#lastProbe;
      return;
    }
    /** Undefined if it came to this process alone, as the answer of a service that says in it which it is. */
    const of = topic === this.#replyTo ? undefined : serviceOf(topic);
    const listHash = headers[Header.ListHash];
    if (of !== undefined && listHash !== undefined && this.#services.get(of)?.hash === listHash) return; // a list that is here need not be read
    if (type === messages.ToolHeartbeat.type)
      this.#heardBy("ToolHeartbeat", message, of, (heartbeat) => this.#onHeartbeat(heartbeat, headers[Header.Policy]));
    else if (type === messages.ToolAnnouncement.type)
      this.#heardBy("ToolAnnouncement", message, of, (page, bytes) => this.#onPage(page, bytes));
    else if (type === messages.ToolListChange.type)
      this.#heardBy("ToolListChange", message, of, (change, bytes) => this.#onChange(change, bytes));
  }

  /** Reads a message that a service has sent, and nobody else under its name. */
  #heardBy<Name extends "ToolHeartbeat" | "ToolAnnouncement" | "ToolListChange">(
    name: Name,
    message: Envelope,
    of: string | undefined,
    take: (value: Messages[Name], bytes: number) => void,
  ): void {
    const { identity } = this.#options;
    if (of !== undefined && !identity.isFrom(of, message, "announcement")) return;
    const read = decodeMessage(name, message.body);
    if (!read.ok) {
      this.#onUnreadable(of ?? serviceIn(message), message, read.fault.message);
      return;
    }
    if ((of ?? read.value.service) !== read.value.service) return;
    if (of === undefined && !identity.isFrom(read.value.service, message, "announcement")) return;
    take(read.value, message.body.byteLength);
  }

  /** Remembers why a list that is wanted cannot be used, until the service says that it has another. */
  #onUnreadable(service: string | undefined, message: Envelope, why: string): void {
    const wanted = service === undefined ? undefined : this.#wanted.get(service);
    if (
      service === undefined ||
      wanted === undefined ||
      !this.#options.identity.isFrom(service, message, "announcement")
    )
      return;
    const fault = why.length > MAX_FAULT ? `${why.slice(0, MAX_FAULT)}…` : why;
    if (wanted.fault === undefined) this.#options.log.warn({ service, fault }, "cannot use a service's list of tools");
    wanted.fault = fault;
    this.#lastNews = performance.now();
  }

  #onHeartbeat({ isLeaving = false, ...heartbeat }: ToolHeartbeat, policy?: string): void {
    const { service, instance, epoch, hash } = heartbeat;
    const view = this.#services.get(service);
    if (isLeaving) {
      this.#wanted.delete(service); // another instance's heartbeat says whether it has the list
      if (view === undefined) return;
      view.instances.delete(instance);
      forgetEpochOfLeavers(view);
      if (view.instances.size === 0) this.#withdraw(service, view);
      else this.#liveness.doubt(subscriptionOf(service, view)); // the bus knows who is left
      return;
    }
    const { version, calls, problems } = heartbeat;
    const said = { version, calls, problems, policy };
    const words = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
    view?.instances.set(instance, { ...view.instances.get(instance), seen: performance.now(), epoch, ...words });
    if (view?.hash === hash) {
      if ((this.#wanted.get(service)?.epoch ?? Number.POSITIVE_INFINITY) <= epoch) this.#wanted.delete(service);
    } else if (view === undefined || epoch >= view.epoch) this.#want(heartbeat);
  }

  /** Asks the instance for its list, unless it has been asked for or a later one is wanted. */
  #want({ service, instance, epoch, hash, pages }: ToolHeartbeat): void {
    const now = performance.now();
    let wanted = this.#wanted.get(service);
    if (wanted !== undefined && epoch < wanted.epoch) return;
    if (wanted?.hash !== hash) {
      if (wanted === undefined && this.#wanted.size >= MAX_SERVICES) return;
      const isOnItsWay = pages !== undefined && this.#unfinished.has({ service, hash, pages });
      const last = wanted?.epoch === epoch ? wanted : { askAt: now, askAgainMs: ASK_AGAIN_MS }; // a list that changes all the time is asked for no more often
      const askAt = isOnItsWay ? Math.max(last.askAt, now + ASK_AGAIN_MS) : last.askAt;
      const { since = now, heard = new Map() } = wanted ?? {};
      wanted = { epoch, hash, pages, since, seen: now, heard, askAt, askAgainMs: last.askAgainMs };
      this.#wanted.set(service, wanted);
      this.#lastNews = now;
    }
    wanted.seen = now;
    if (!this.#services.has(service) && wanted.heard.size < MAX_INSTANCES)
      wanted.heard.set(instance, { seen: now, epoch });
    if (now < wanted.askAt) return;
    wanted.askAt = now + wanted.askAgainMs;
    wanted.askAgainMs = Math.min(2 * wanted.askAgainMs, MAX_ASK_AGAIN_MS);
    void this.#ask(listTopic(service), { service, instance });
  }

  /**
   * Applies a change to the list that it is of. Once list and changes are too large together, the list is asked for: it
   * may be smaller.
   */
  #onChange(
    { from, tools, removedTools, guides, removedGuides, ...heartbeat }: ToolListChange,
    ownBytes: number,
  ): void {
    const view = this.#services.get(heartbeat.service);
    const bytes = (view?.bytes ?? 0) + ownBytes;
    if (view === undefined || view.hash !== from || heartbeat.epoch < view.epoch || bytes > MAX_LIST_BYTES)
      this.#onHeartbeat(heartbeat);
    else
      this.#take(heartbeat, {
        tools: changed(view.tools, tools, removedTools),
        guides: changed(view.guides, guides, removedGuides),
        bytes,
      });
  }

  #onPage(page: ToolAnnouncement, bytes: number): void {
    const added = this.#unfinished.add(page, bytes);
    if (added === "no-such-page") return;
    if (added === "too-large") {
      this.#options.log.warn(
        { service: page.service, atMost: MAX_LIST_BYTES },
        "refused a service's list of tools that is too large",
      );
      return;
    }
    this.#lastNews = performance.now();
    const wanted = this.#wanted.get(page.service);
    if (wanted?.hash === page.hash) wanted.askAt = this.#lastNews + wanted.askAgainMs; // it is on its way
    if (added === undefined) return;
    const { pages } = added;
    this.#take(page, {
      tools: pages.flatMap(({ tools }) => tools),
      guides: pages.flatMap(({ guides }) => guides),
      bytes: added.bytes,
    });
  }

  /** Takes a list as that of the service, unless a later start's is here. */
  #take(
    { service, instance, epoch, hash }: Pick<ToolHeartbeat, "service" | "instance" | "epoch" | "hash">,
    { tools, guides, bytes }: Pick<ServiceView, "tools" | "guides" | "bytes">,
  ): void {
    const now = performance.now();
    const view = this.#services.get(service);
    if (view === undefined && this.#services.size >= MAX_SERVICES) return;
    const wanted = this.#wanted.get(service);
    if ((wanted?.epoch ?? Number.POSITIVE_INFINITY) <= epoch) this.#wanted.delete(service);
    if (view !== undefined && (view.hash === hash || epoch < view.epoch)) {
      view.instances.set(instance, { ...view.instances.get(instance), seen: now, epoch });
      return;
    }
    this.#left.delete(service);
    const instances = view?.instances ?? new Map(wanted?.heard);
    this.#services.set(service, {
      epoch,
      hash,
      tools,
      guides,
      bytes,
      instances: instances.set(instance, { ...instances.get(instance), seen: now, epoch }),
    });
    this.#holders.replace(service, view?.tools ?? [], tools);
    this.#lastNews = performance.now();
  }

  #withdraw(service: string, view: ServiceView): void {
    this.#services.delete(service);
    this.#left.set(service, performance.now());
    const others = [...this.#services].map(([other, { tools }]) => [other, tools] as const);
    this.#holders.release(service, view.tools, others);
    this.#lastNews = performance.now();
  }

  /**
   * Withdraws services that have no consumer and whose every lease is over. While the bus is away nobody can be heard,
   * so nobody is withdrawn.
   */
  async #sweep(): Promise<void> {
    if (!this.#bus.isReady) return;
    const now = performance.now();
    for (const [service, { seen }] of this.#wanted) if (now - seen > LEASE_MS) this.#wanted.delete(service);
    for (const [service, view] of [...this.#services]) {
      const lapsed = [...view.instances].filter(([, { seen }]) => now - seen > LEASE_MS);
      if (lapsed.length < view.instances.size) {
        for (const [instance] of lapsed) view.instances.delete(instance);
        forgetEpochOfLeavers(view);
      } else if (
        !(await this.#liveness.isServed(subscriptionOf(service, view))) &&
        this.#services.get(service) === view
      )
        this.#withdraw(service, view);
    }
  }
}

/**
 * A list is of use while one who has it is there: when the latest start has left, an earlier one's list is the next.
 */
function forgetEpochOfLeavers(view: ServiceView): void {
  view.epoch = Math.max(0, ...[...view.instances.values()].map(({ epoch }) => epoch));
}

/** The entries with some removed, and some in the place of those with their names. */
function changed<T extends { readonly name: string }>(
  entries: readonly T[],
  news: readonly T[],
  removed: readonly string[],
): readonly T[] {
  const gone = new Set([...removed, ...news.map(({ name }) => name)]);
  return [...entries.filter(({ name }) => !gone.has(name)), ...news].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const subscriptionOf = (service: string, { tools }: ServiceView): string => tools[0]?.subscription ?? service;

/** The service that an announcement says it is of, which else cannot be read. */
function serviceIn({ type, body }: Envelope): string | undefined {
  const parsed = type === messages.ToolAnnouncement.type ? parseJson(Buffer.from(body).toString()) : undefined;
  const service = parsed?.ok ? (parsed.value as { readonly service?: unknown } | null)?.service : undefined;
  return typeof service === "string" ? service : undefined;
}

const serviceOf = (topic: string): string => topic.slice(announceTopic("").length);
