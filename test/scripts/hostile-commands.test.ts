import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer } from "node:net";
import { silentLogger } from "@rockbot/bus";
import { defaultSandboxLimits, localWays, openLocalMaker, programScript, runJob } from "@rockbot/sandbox";
import { hasBubblewrap, missingNamespaces, temporaryFolder } from "@rockbot/testing";
import { describe, expect, test, vi } from "vitest";
import { hostileScripts } from "./hostile-scripts.ts";
import { pidNamespacesBelow } from "./namespace-census.ts";

const limits = {
  ...defaultSandboxLimits,
  memoryBytes: 128 * 1024 * 1024,
  processes: 32,
  storageBytes: 16 * 1024 * 1024,
  storageFiles: 1_000,
};
const KEEP_BYTES = 16 * 1024;
const noNamespaces = missingNamespaces();
const noBubblewrap =
  noNamespaces ?? ((await hasBubblewrap()) ? undefined : "bubblewrap is not installed, and cannot be");

for (const [name, missing] of [["bubblewrap", noBubblewrap] as const, ["unshare", noNamespaces] as const]) {
  describe.runIf(missing === undefined)(
    `commands of bash in sandboxes by ${name}${missing === undefined ? "" : ` (skipped: ${missing})`}`,
    () => {
      test("hold the hostile scripts: nothing survives them, nothing is learned, nothing gets out", {
        timeout: 600_000,
      }, async () => {
        vi.stubEnv("SECRET", "SECRET-OF-THE-MANAGER");
        using folder = temporaryFolder();
        chmodSync(folder.path, 0o755); // commands have another user
        let visits = 0;
        const visited = createServer(() => visits++).listen(0, "0.0.0.0");
        await once(visited, "listening");
        await using maker = await openLocalMaker({
          log: silentLogger,
          limits,
          ways: [localWays[name]],
          path: process.env["PATH"],
        });
        const { signal } = new AbortController();
        for (const { name: what, script, timeoutMs = 10_000, limit, prints } of hostileScripts(
          (visited.address() as { port: number }).port,
        )) {
          folder.write("hostile.py", script);
          await using sandbox = await maker.make({
            signal,
            folders: [{ outside: folder.path, inside: "/workspace/work", isWritable: true }],
          });
          const command = "python3 work/hostile.py; exit $?"; // not its last command, in whose place bash would run it
          const job = {
            id: "0".repeat(32),
            script: programScript(["/bin/bash", "-c", command], { folder: "/workspace", isOneStream: true }),
            timeoutMs,
          };
          const outcome = await runJob(sandbox, job, { signal, keepBytes: KEEP_BYTES, tailBytes: KEEP_BYTES });
          if (limit !== undefined) expect(outcome.limit, `${what}: ${outcome.stdout.slice(-500)}`).toBe(limit);
          if (prints !== undefined) expect(outcome.stdout.trim(), what).toBe(prints);
          expect(outcome.stdout.length + outcome.tail.stdout.length, what).toBeLessThanOrEqual(2 * KEEP_BYTES);
          expect(outcome.stdout + outcome.tail.stdout, what).not.toContain("SECRET");
          await sandbox[Symbol.asyncDispose]();
          await expect
            .poll(() => [...pidNamespacesBelow(process.pid)], { timeout: 10_000, message: `survivors of: ${what}` })
            .toEqual([]);
        }
        visited.close();
        vi.unstubAllEnvs();
        expect(visits).toBe(0);
      });
    },
  );
}
