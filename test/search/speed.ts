import { type ServiceEntry, ServiceSearch } from "@rockbot/search";
import type { Question } from "./read-set.ts";

/** Milliseconds: the median and the 99th percentile. */
export interface Speed {
  readonly tools: number;
  readonly p50: number;
  readonly p99: number;
  /** To take in one tool more. */
  readonly change: number;
}

/** How long a question takes among so many tools: those of the services, again and again under other names. */
export async function measureSpeed(services: readonly ServiceEntry[], questions: readonly Question[], count: number): Promise<Speed> {
  const entries: ServiceEntry[] = [];
  let tools = 0;
  for (let copy = 0; tools < count; copy++)
    for (const service of services) {
      if (tools >= count) break;
      entries.push({ ...service, id: copy === 0 ? service.id : `${service.id}-${copy}` });
      tools += service.tools.length;
    }
  let now: readonly ServiceEntry[] = entries;
  const search = new ServiceSearch(() => now);
  for (const { text } of questions) await search.search(text);
  const took: number[] = [];
  for (const { text } of questions) {
    const start = performance.now();
    await search.search(text);
    took.push(performance.now() - start);
  }
  now = [...entries, { id: "new", type: "tool", summary: "", tools: [{ name: "a_new_tool", description: "Does what none did before." }], isUntrusted: false }];
  const start = performance.now();
  await search.search("new");
  const change = performance.now() - start;
  took.sort((a, b) => a - b);
  const at = (share: number): number => took[Math.floor(share * took.length)] ?? Number.NaN;
  return { tools, p50: at(0.5), p99: at(0.99), change };
}
