import { readdirSync, readFileSync } from "node:fs";
import { connectBus } from "@rockbot/bus-rabbitmq";
import {
  createEnvelope,
  decodeMessage,
  encodeMessage,
  messages,
  newId,
  type ScriptInvokeResponse,
} from "@rockbot/contracts";
import { missingNamespaces, ownVirtualHost, startOwnRedis } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startService } from "./start-service.ts";

const TOOL = "execute_python_script";
const missing = missingNamespaces();
const reason = missing === undefined ? "" : ` (skipped: ${missing})`;

/** A script that names its process, so that it can be found from outside, and then does not end. */
const lasting = (mark: string): string =>
  `open("/proc/self/comm", "w").write("${mark}")\nprint("running", flush=True)\nwhile True: pass`;
const newMark = (): string => `rb${newId().slice(0, 12)}`;

/** Processes of that name, in whatever namespace. */
function processesNamed(mark: string): string[] {
  return readdirSync("/proc").filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      return readFileSync(`/proc/${entry}/comm`, "utf8").trim() === mark;
    } catch {
      return false; // it has just ended
    }
  });
}

async function untilRunning(mark: string): Promise<void> {
  await expect.poll(() => processesNamed(mark).length, { timeout: 60_000, interval: 20 }).toBe(1);
}

/** The most memory that a process has had resident, in MiB. */
const peakMiB = (pid: number): number =>
  Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);

test.skipIf(missing)(
  `scripts over a broker: for callers of ours and of the original, and gone when they are cancelled${reason}`,
  { timeout: 240_000 },
  async () => {
    await using broker = await ownVirtualHost();
    await using _manager = await startService("scripts-manager", { BUS_URL: broker.url });
    await using bus = await connectBus(broker.url);
    await using caller = await createToolCaller(bus, { agent: "scripter", results: "copy" });
    await caller.discovered();

    const squared = await caller.call(TOOL, { script: "print(int(input()) ** 2)", input_data: "12" });
    expect(squared).toMatchObject({ content: "144\n", isError: false, structured: { exit_code: 0, stderr: "" } });
    const failed = await caller.call(TOOL, { script: "print('so far')\nraise ValueError('bad')" });
    expect(failed).toMatchObject({
      isError: true,
      content: expect.stringMatching(/exit code 1.*ValueError: bad.*so far/s),
    });

    const answers: ScriptInvokeResponse[] = [];
    await using _replies = await bus.subscribe(
      { name: "original", topics: ["script.result.RockBot"], kind: "copy" },
      async ({ body }) => {
        const decoded = decodeMessage("ScriptInvokeResponse", body);
        if (decoded.ok) answers.push(decoded.value);
      },
    );
    const ask = (toolCallId: string, script: string, timeoutSeconds = 30) =>
      bus.publish(
        createEnvelope({
          topic: "script.invoke",
          type: messages.ScriptInvokeRequest.type,
          source: "RockBot",
          replyTo: "script.result.RockBot",
          body: encodeMessage("ScriptInvokeRequest", {
            toolCallId,
            script,
            inputData: "hello",
            timeoutSeconds,
            pipPackages: null,
          }),
        }),
      );
    await ask("one", "import os; print(os.environ['ROCKBOT_INPUT'])");
    await ask("two", "import time; time.sleep(60)", 1);
    await expect.poll(() => answers.length, { timeout: 60_000 }).toBe(2);
    expect(answers.find(({ toolCallId }) => toolCallId === "one")).toMatchObject({
      output: "hello\n",
      stderr: null,
      exitCode: 0,
      isSuccess: true,
    });
    expect(answers.find(({ toolCallId }) => toolCallId === "two")).toMatchObject({
      output: null,
      exitCode: -1,
      stderr: expect.stringContaining("timed out"),
    });

    const mark = newMark();
    const cancel = new AbortController();
    const running = caller
      .call(TOOL, { script: lasting(mark) }, { signal: cancel.signal })
      .catch((error: unknown) => error);
    await untilRunning(mark);
    const cancelled = performance.now();
    cancel.abort();
    await expect.poll(() => processesNamed(mark), { timeout: 10_000, interval: 5 }).toEqual([]);
    console.log(`cancelled script gone after ${Math.round(performance.now() - cancelled)} ms`);
    expect(await running).toMatchObject({ code: "cancelled" });
  },
);

test.skipIf(missing)(
  `50 scripts of two callers at once are all answered, in rotation, within bounded memory${reason}`,
  { timeout: 300_000 },
  async () => {
    await using broker = await ownVirtualHost();
    await using manager = await startService("scripts-manager", { BUS_URL: broker.url });
    await using bus = await connectBus(broker.url);
    await using first = await createToolCaller(bus, { agent: "first", results: "copy" });
    await using second = await createToolCaller(bus, { agent: "second", results: "copy" });
    for (const caller of [first, second]) {
      await caller.discovered();
      await caller.call(TOOL, { script: "print(1)" });
    }
    const before = peakMiB(manager.pid);
    const order: string[] = [];
    const script = "print('x' * 200_000)\nprint(sum(i * i for i in range(200_000)))";
    const callMany = (name: string, caller: typeof first) =>
      Array.from({ length: 25 }, async () => {
        const { content } = await caller.call(TOOL, { script }, { timeoutMs: 120_000 });
        expect(content?.length).toBeGreaterThan(200_000);
        order.push(name);
      });
    const began = performance.now();
    await Promise.all([...callMany("first", first), ...callMany("second", second)]);

    const early = order.slice(0, 25).filter((name) => name === "second").length;
    const grown = peakMiB(manager.pid) - before;
    console.log(
      `50 scripts in ${Math.round(performance.now() - began)} ms; of the first 25 answers ${early} were of the caller that came second; memory grew by ${grown} MiB`,
    );
    expect(early).toBeGreaterThanOrEqual(8); // in the order of coming it would have none
    expect(early).toBeLessThanOrEqual(17);
    expect(grown).toBeLessThan(150);
  },
);

test.skipIf(missing)(
  `when a manager is killed its scripts end with it, and their calls are answered by the next one${reason}`,
  { timeout: 240_000 },
  async () => {
    await using broker = await ownVirtualHost();
    await using redis = await startOwnRedis();
    const env = { BUS_URL: broker.url, REDIS_URL: redis.url };
    await using killed = await startService("scripts-manager", env);
    await using bus = await connectBus(broker.url);
    await using caller = await createToolCaller(bus, { agent: "scripter", results: "copy" });
    await caller.discovered();
    const mark = newMark();
    const call = caller
      .call(TOOL, { script: lasting(mark), timeout_seconds: 100 }, { timeoutMs: 120_000 })
      .catch((error: unknown) => error);
    await untilRunning(mark);

    await using _next = await startService("scripts-manager", env);
    killed.kill("SIGKILL");

    await expect.poll(() => processesNamed(mark), { timeout: 10_000 }).toEqual([]);
    expect(await call).toMatchObject({ code: "outcome_unknown", details: { mayHaveRun: true } });
    expect(processesNamed(mark)).toEqual([]);
    expect(await caller.call(TOOL, { script: "print('next')" })).toMatchObject({ content: "next\n" });
  },
);
