import { pause } from "@rockbot/base";
import { type Logger, silentLogger } from "@rockbot/bus";
import { isOrphan, markedProcesses } from "./process-mark.ts";

const ROUNDS = 10;
const POLL_MS = 20;

/**
 * Ends the servers that an earlier process has left behind, with everything that they have started. A killed process
 * could not end them, and not every server heeds the end of its input. This works on Linux; elsewhere they end by
 * themselves, or not.
 * @returns how many there were
 */
export async function endOrphans({ log = silentLogger }: { readonly log?: Logger | undefined } = {}): Promise<number> {
  const ended = new Set<number>();
  // A process may start another while it is being looked for, so it is looked for until nobody is found.
  for (let round = 0; round < ROUNDS; round++) {
    const all = await markedProcesses();
    const ours = all.find(({ pid }) => pid === process.pid)?.mark; // a server may be a bridge of its own
    const marked = all.filter(({ mark }) => mark !== ours);
    const orphaned = await Promise.all(marked.map(isOrphan));
    const orphans = marked.filter((_, at) => orphaned[at]);
    if (orphans.length === 0) break;
    for (const { pid } of orphans) {
      ended.add(pid);
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // gone
      }
    }
    await pause(POLL_MS);
  }
  if (ended.size > 0) log.warn({ processes: ended.size }, "ended MCP servers that a killed process left behind");
  return ended.size;
}
