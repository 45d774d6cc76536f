import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { defaultSandboxLimits, openLocalMaker, pooledRunner } from "@rockbot/sandbox";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { configSchema } from "../generated/config.ts";
import { startScriptsManager } from "../scripts-manager.ts";
import { liveOutput } from "./live-output.ts";

test("what a script prints reaches its caller as progress while it still runs, stderr too", async () => {
  await using stack = new AsyncDisposableStack();
  const bus = stack.use(createMemoryBus());
  const path = process.env["PATH"] ?? "";
  const maker = await openLocalMaker({ log: silentLogger, limits: defaultSandboxLimits, path, isUnsafe: true });
  const runner = stack.use(
    pooledRunner(maker, { floor: 0, ceiling: 1, idleMs: 60_000, keepBytes: 100_000, log: silentLogger }),
  );
  const config = loadConfig(configSchema, { env: {} });
  stack.use(await startScriptsManager(bus, config, { service: "scripts-manager", topic: "script.invoke", runner }));
  const caller = stack.use(await createToolCaller(bus, { agent: "ann" }));
  await caller.discovered();
  const stop = new AbortController();
  const call = caller.call(
    "execute_python_script",
    { script: "import sys, time\nprint('half')\nprint('a warning', file=sys.stderr)\nwhile True: time.sleep(1)" },
    {
      signal: stop.signal,
      onProgress({ message = "" }) {
        if (message?.includes("half") && message.includes("a warning")) stop.abort();
      },
    },
  );
  await expect(call).rejects.toMatchObject({ code: "cancelled" });
});

test("an update is the end of the output so far, in characters that are seen, whatever bytes come", () => {
  const told: string[] = [];
  const tell = liveOutput(({ message }) => void told.push(message ?? ""));
  const euro = Buffer.from("€");
  tell(euro.subarray(0, 1), false);
  tell(euro.subarray(1), false);
  tell(Buffer.from("x\u200by".repeat(5_000)), false);
  expect(told[1]).toBe("€");
  expect(told[2]?.length).toBeLessThanOrEqual(1_000);
  expect(told[2]).toMatch(/^[xy]+$/);
  tell(Buffer.from("much later"), true);
  expect(told[3]).toBe("much later");
});
