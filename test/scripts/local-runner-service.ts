/**
 * A runner of scripts on this machine, as a process of its own: `node local-runner-service.ts WAY SCRIPT`. Says on
 * stdout when the script may have begun.
 */
import { silentLogger } from "@rockbot/bus";
import { localWays, openLocalMaker, runJob } from "@rockbot/sandbox";

const [, , way = "", script = ""] = process.argv;
const { signal } = new AbortController();
await using maker = await openLocalMaker({
  log: silentLogger,
  ways: [localWays[way as keyof typeof localWays]],
  path: process.env["PATH"],
});
await using idle = await maker.make({ signal });
await using busy = await maker.make({ signal });
const running = runJob(busy, { id: "killed", script, timeoutMs: 600_000 }, { signal, keepBytes: 4_096 });
process.stdout.write("ready\n");
await Promise.race([running, idle.gone]);
