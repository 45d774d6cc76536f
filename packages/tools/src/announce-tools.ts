import { createHash } from "node:crypto";
import { startLoop } from "@rockbot/async";
import type { Bus, Logger } from "@rockbot/bus";
import { type AnnouncedTool, createEnvelope, decodeMessage, encodeMessage, messages, newId, type ToolGuide } from "@rockbot/contracts";

/** Topics of announcements. */
export const announceTopic = (service: string): string => `tool.announce.${service}`;
export const PROBE_TOPIC = "tool.announce.probe";
/** No service may have this name: its announcements would be probes. */
export const RESERVED_SERVICE = "probe";
/** An instance says this often that it is there. */
export const HEARTBEAT_MS = 1_000;

const MAX_PAGE_BYTES = 256 * 1024;
/** Probes that come within this time are answered together. */
const ANSWER_PROBES_MS = 20;
/** An announcement is of use for as long as it takes to be repeated. */
const TTL_MS = 10_000;

/** Everything that a service serves. */
export interface AnnouncedList {
  readonly tools: readonly AnnouncedTool[];
  readonly guides: readonly ToolGuide[];
}

export interface AnnounceOptions {
  readonly service: string;
  readonly list: AnnouncedList;
  readonly log: Logger;
}

export interface ToolAnnouncer extends AsyncDisposable {
  /** From now on this is what is served; told shortly, once for several changes in a row. */
  update(list: AnnouncedList): void;
}

/**
 * Tells callers what an instance of a service serves: all of it now and whenever somebody probes, a heartbeat in between.
 * Listens for probes before it announces, so that a caller that starts at the same time misses nothing. Disposal says
 * that the instance is leaving.
 */
export async function announceTools(bus: Bus, { service, list, log }: AnnounceOptions): Promise<ToolAnnouncer> {
  const topic = announceTopic(service);
  const self = { service, instance: newId().slice(0, 12), epoch: Date.now() };
  let { pages, hash } = toAnnouncement(list);
  let answering: NodeJS.Timeout | undefined;

  async function send(type: string, body: Uint8Array): Promise<void> {
    try {
      await bus.publish(createEnvelope({ topic, type, source: service, ttlMs: TTL_MS, body }), { timeoutMs: HEARTBEAT_MS });
    } catch (error) {
      log.debug({ service, error: String(error) }, "announcement not sent"); // the next heartbeat comes, and callers probe
    }
  }

  async function announce(): Promise<void> {
    for (const [page, content] of pages.entries()) {
      await send(messages.ToolAnnouncement.type, encodeMessage("ToolAnnouncement", { ...self, hash, page, pages: pages.length, ...content }));
    }
  }

  function announceSoon(): void {
    answering ??= setTimeout(() => {
      answering = undefined;
      void announce();
    }, ANSWER_PROBES_MS);
  }

  const beat = (isLeaving: boolean) => send(messages.ToolHeartbeat.type, encodeMessage("ToolHeartbeat", { ...self, hash, isLeaving }));

  const probes = await bus.subscribe({ name: `announce.${service}`, topics: [PROBE_TOPIC], kind: "copy" }, async (message) => {
    const probe = decodeMessage("ToolAnnounceProbe", message.body);
    if (!probe.ok || (probe.value.service ?? service) !== service) return;
    announceSoon();
  });
  await announce();
  const heartbeats = startLoop(HEARTBEAT_MS, () => beat(false));

  return {
    update(changed) {
      const next = toAnnouncement(changed);
      if (next.hash === hash) return;
      ({ pages, hash } = next);
      announceSoon();
    },
    async [Symbol.asyncDispose]() {
      clearTimeout(answering);
      await heartbeats[Symbol.asyncDispose]();
      await beat(true);
      await probes[Symbol.asyncDispose]();
    },
  };
}

function toAnnouncement({ tools, guides }: AnnouncedList) {
  const sorted = { tools: tools.toSorted(byName), guides: guides.toSorted(byName) };
  return { hash: createHash("sha256").update(JSON.stringify(sorted)).digest("hex").slice(0, 16), pages: toPages(sorted.tools, sorted.guides) };
}

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : 1);

/** The list cut into pages whose bodies stay below MAX_PAGE_BYTES; at least one, even if empty. */
function toPages(tools: readonly AnnouncedTool[], guides: readonly ToolGuide[]): { tools: AnnouncedTool[]; guides: ToolGuide[] }[] {
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
