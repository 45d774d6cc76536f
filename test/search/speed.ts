import { type ServiceEntry, ServiceSearch } from "@rockbot/search";
import type { Question } from "./read-set.ts";

/** Milliseconds of a question: the median, and the mean of the processor's time, in which other load does not count. */
export interface Speed {
  readonly tools: number;
  readonly p50: number;
  readonly cpu: number;
  /** To take in one tool more. */
  readonly change: number;
}

/** How long a question takes among so many tools: those of the services, again and again under other names. */
export async function measureSpeed(
  services: readonly ServiceEntry[],
  questions: readonly Question[],
  count: number,
): Promise<Speed> {
  const entries: ServiceEntry[] = [];
  let tools = 0;
  for (let copy = 0; tools < count; copy++)
    for (const service of services) {
      if (tools >= count) break;
      entries.push({ ...service, id: copy === 0 ? service.id : `${service.id}-${copy}` });
      tools += service.tools.length;
    }
  let now: readonly ServiceEntry[] = entries;
  const search = new ServiceSearch(() => now.map((entry) => ({ ...entry, tools: [...entry.tools] }))); // new objects each time, as an agent has them
  for (const { text } of questions) await search.search(text);
  const took: number[] = [];
  const before = process.cpuUsage();
  for (const { text } of questions) {
    const start = performance.now();
    await search.search(text);
    took.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(before);
  now = [
    ...entries,
    {
      id: "new",
      type: "tool",
      summary: "",
      tools: [{ name: "a_new_tool", description: "Does what none did before." }],
    },
  ];
  const start = performance.now();
  await search.search("new");
  const change = performance.now() - start;
  took.sort((a, b) => a - b);
  return {
    tools,
    p50: took[Math.floor(took.length / 2)] ?? Number.NaN,
    cpu: (user + system) / 1_000 / questions.length,
    change,
  };
}
