import { createHash } from "node:crypto";
import { startLoop } from "@rockbot/base";
import type { Bus, Logger } from "@rockbot/bus";
import {
  type AnnouncedTool,
  createEnvelope,
  decodeMessage,
  type Envelope,
  encodeMessage,
  Header,
  messages,
  newId,
  type ToolGuide,
  type ToolHeartbeat,
  type ToolListChange,
} from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { ANNOUNCEMENT_TTL_MS, HEARTBEAT_MS, MAX_PAGE_BYTES } from "../limits.ts";
import type { Identity } from "../messages/identity.ts";
import { METERED } from "../messages/message-meter.ts";
import { AnswerAllowance } from "./answer-allowance.ts";

/** Topics of announcements. */
export const announceTopic = (service: string): string => `tool.announce.${service}`;
export const PROBE_TOPIC = "tool.announce.probe";
/** Where a service is asked for its list: nobody else needs to hear that. */
export const listTopic = (service: string): string => `tool.announce.list.${service}`;
/** No service may have this name: its announcements would be probes. */
export const RESERVED_SERVICE = "probe";

/** Changes within this time are announced together. */
const TOGETHER_MS = 20;

/** Everything that a service serves. */
export interface AnnouncedList {
  readonly tools: readonly AnnouncedTool[];
  readonly guides: readonly ToolGuide[];
}

export interface AnnounceOptions {
  readonly service: string;
  readonly list: AnnouncedList;
  /** Tells whether the list has all that the instance can serve. @default always */
  readonly isWhole?: (() => boolean) | undefined;
  /** What heartbeats say besides, for operators. @default nothing */
  readonly status?: (() => Pick<ToolHeartbeat, "version" | "calls" | "problems">) | undefined;
  /** Says who may be answered. */
  readonly identity: Pick<Identity, "senderOf">;
  /** The policy of the service, whose revision it announces. */
  readonly policy?: Pick<PolicyHolder, "current"> | undefined;
  readonly log: Logger;
}

export interface ToolAnnouncer extends AsyncDisposable {
  /** From now on this is what is served; told shortly, once for several changes in a row. */
  update(list: AnnouncedList): void;
}

/**
 * Tells callers what an instance of a service serves. All callers hear its heartbeat, which carries the list's hash,
 * and each change; the list itself goes to callers that ask for it. It listens for questions before its first
 * heartbeat, so that a caller that starts at the same time misses nothing. Disposal says that the instance is leaving.
 */
export async function announceTools(bus: Bus, options: AnnounceOptions): Promise<ToolAnnouncer> {
  const { service } = options;
  const told = new ToldList(bus, options);
  let telling: NodeJS.Timeout | undefined;
  let isLeaving = false;
  const probes = await bus.subscribe(
    { name: `announce.${service}`, topics: [PROBE_TOPIC, listTopic(service)], kind: "copy", ...METERED },
    async (message) => told.hearProbe(message),
  );
  await told.beat();
  const heartbeats = startLoop(HEARTBEAT_MS, () => told.beat());

  return {
    update(changed) {
      if (isLeaving) return;
      told.next = toAnnouncement(changed);
      telling ??= setTimeout(() => {
        telling = undefined;
        void told.tellChange();
      }, TOGETHER_MS);
    },
    async [Symbol.asyncDispose]() {
      isLeaving = true;
      clearTimeout(telling);
      await heartbeats[Symbol.asyncDispose]();
      await told.beat({ isLeaving: true });
      await probes[Symbol.asyncDispose]();
    },
  };
}

/** The announcements of an instance to callers, and how. */
class ToldList {
  readonly #bus: Bus;
  readonly #options: AnnounceOptions;
  readonly #toAll: string;
  readonly #instance = newId().slice(0, 12);
  readonly #startedAt = Date.now();
  readonly #allowance = new AnswerAllowance();
  /**
   * The list that was announced to all. Heartbeats and answers say the same until a change is announced: a hash that is
   * new to callers makes each ask for the list.
   */
  #announced: Announcement;
  /** The list that is served now. */
  next: Announcement;

  constructor(bus: Bus, options: AnnounceOptions) {
    const { service, list } = options;
    this.#bus = bus;
    this.#options = options;
    this.#toAll = announceTopic(service);
    this.#announced = toAnnouncement(list);
    this.next = this.#announced;
  }

  /**
   * Callers take the list of the highest epoch. While this one lacks something, each whole list of another instance
   * comes before it: its epoch is that of a start long ago.
   */
  get #self(): { readonly service: string; readonly instance: string; readonly epoch: number } {
    const { service, isWhole } = this.#options;
    return {
      service,
      instance: this.#instance,
      epoch: (isWhole?.() ?? true) ? this.#startedAt : Math.floor(this.#startedAt / 1_000),
    };
  }

  beat({
    topic = this.#toAll,
    isLeaving = false,
  }: {
    readonly topic?: string;
    readonly isLeaving?: boolean;
  } = {}): Promise<void> {
    const { hash, pages } = this.#announced;
    const revision = this.#options.policy?.current().revision;
    const status = this.#options.status?.();
    const body = encodeMessage("ToolHeartbeat", { ...this.#self, hash, pages: pages.length, isLeaving, ...status });
    return this.#send(
      topic,
      messages.ToolHeartbeat.type,
      body,
      revision === undefined ? {} : { [Header.Policy]: revision },
    );
  }

  async tellChange(): Promise<void> {
    if (this.next.hash === this.#announced.hash) return;
    const change = changeBetween(this.#announced, this.next);
    this.#announced = this.next;
    const body = encodeMessage("ToolListChange", { ...this.#self, ...change });
    if (body.byteLength < this.#announced.bytes / 2 && body.byteLength <= MAX_PAGE_BYTES)
      await this.#send(this.#toAll, messages.ToolListChange.type, body);
    else await this.#announce(this.#toAll);
  }

  hearProbe(message: Envelope): void {
    const { replyTo, topic } = message;
    const { service, identity } = this.#options;
    const probe = decodeMessage("ToolAnnounceProbe", message.body);
    if (!probe.ok || replyTo === undefined) return;
    const { service: asked, instance } = probe.value;
    if ((asked ?? service) !== service || (instance ?? this.#instance) !== this.#instance) return;
    const sender = identity.senderOf(message);
    if ("refusal" in sender || !sender.mayHear(replyTo)) return;
    const isForList = topic !== PROBE_TOPIC;
    if (this.#allowance.take(sender.name, isForList ? this.#announced.bytes : 0))
      void (isForList ? this.#announce(replyTo) : this.beat({ topic: replyTo }));
  }

  async #announce(topic: string): Promise<void> {
    const { hash, pages } = this.#announced;
    for (const [page, content] of pages.entries()) {
      const body = encodeMessage("ToolAnnouncement", { ...this.#self, hash, page, pages: pages.length, ...content });
      await this.#send(topic, messages.ToolAnnouncement.type, body, { [Header.ListHash]: hash });
    }
  }

  async #send(topic: string, type: string, body: Uint8Array, headers: Record<string, string> = {}): Promise<void> {
    const { service, log } = this.#options;
    try {
      await this.#bus.publish(
        createEnvelope({ topic, type, source: service, ttlMs: ANNOUNCEMENT_TTL_MS, headers, body }),
        { timeoutMs: HEARTBEAT_MS },
      );
    } catch (error) {
      log.debug({ service, error: String(error) }, "could not send an announcement"); // the next heartbeat comes, and callers ask again
    }
  }
}

type Announcement = ReturnType<typeof toAnnouncement>;

function toAnnouncement({ tools, guides }: AnnouncedList) {
  const sorted = { tools: tools.toSorted(byName), guides: guides.toSorted(byName) };
  const text = JSON.stringify(sorted);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { ...sorted, hash, bytes: Buffer.byteLength(text), pages: toPages(sorted.tools, sorted.guides) };
}

function changeBetween(
  before: Announcement,
  after: Announcement,
): Omit<ToolListChange, "service" | "instance" | "epoch"> {
  const [tools, guides] = [differences(before.tools, after.tools), differences(before.guides, after.guides)];
  return {
    from: before.hash,
    hash: after.hash,
    tools: tools.changed,
    removedTools: tools.removed,
    guides: guides.changed,
    removedGuides: guides.removed,
  };
}

function differences<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
): { readonly changed: T[]; readonly removed: string[] } {
  const old = new Map(before.map((entry) => [entry.name, JSON.stringify(entry)]));
  const names = new Set(after.map(({ name }) => name));
  return {
    changed: after.filter((entry) => old.get(entry.name) !== JSON.stringify(entry)),
    removed: [...old.keys()].filter((name) => !names.has(name)),
  };
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

/** The list cut into pages whose bodies stay below MAX_PAGE_BYTES; at least one, even if empty. */
function toPages(
  tools: readonly AnnouncedTool[],
  guides: readonly ToolGuide[],
): { tools: AnnouncedTool[]; guides: ToolGuide[] }[] {
  const pages: { tools: AnnouncedTool[]; guides: ToolGuide[] }[] = [{ tools: [], guides: [] }];
  let bytes = 0;
  function page(entry: object): { tools: AnnouncedTool[]; guides: ToolGuide[] } {
    const size = Buffer.byteLength(JSON.stringify(entry)) + 1;
    if (bytes > 0 && bytes + size > MAX_PAGE_BYTES - 1024) {
      pages.push({ tools: [], guides: [] });
      bytes = 0;
    }
    bytes += size;
    return pages[pages.length - 1] as (typeof pages)[number];
  }
  for (const tool of tools) page(tool).tools.push(tool);
  for (const guide of guides) page(guide).guides.push(guide);
  return pages;
}
