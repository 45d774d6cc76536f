import { join } from "node:path";
import { hasBubblewrap, missingNamespaces, startNodeProgram } from "@rockbot/testing";
import { expect, test } from "vitest";
import { livePidNamespaces, pidNamespacesBelow } from "./namespace-census.ts";

const SERVICE = join(import.meta.dirname, "local-runner-service.ts");
/** Ignores all that can be ignored, and has left its parents. */
const STUBBORN = `
import os, signal, time
for n in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}: signal.signal(n, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
time.sleep(3600)
`;

const noNamespaces = missingNamespaces();
const ways = {
  unshare: noNamespaces,
  bubblewrap: noNamespaces ?? ((await hasBubblewrap()) ? undefined : "bubblewrap is not installed, and cannot be"),
};

for (const [way, skipped] of Object.entries(ways)) {
  const words = skipped === undefined ? "" : ` (skipped: ${skipped})`;
  test.runIf(skipped === undefined)(
    `sandboxes by ${way}, idle or not, end with a manager that is killed${words}`,
    { timeout: 120_000 },
    async () => {
      await using manager = startNodeProgram(SERVICE, { args: [way, STUBBORN] });
      await expect.poll(() => manager.stdout(), { timeout: 60_000 }).toBe("ready\n");
      const sandboxes = pidNamespacesBelow(manager.pid);
      expect(sandboxes.size).toBe(2);

      manager.kill("SIGKILL");

      await expect
        .poll(() => [...livePidNamespaces()].filter((name) => sandboxes.has(name)), { timeout: 30_000 })
        .toEqual([]);
    },
  );
}
