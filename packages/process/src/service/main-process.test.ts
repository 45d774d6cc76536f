import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test, vi } from "vitest";

const WAIT = { timeout: 30_000 };

/** A process whose main is `source` with this package's exports at hand. */
function startMain(source: string) {
  const index = JSON.stringify(join(import.meta.dirname, "index.ts"));
  const main = `import { exitOnCrash, onShutdown } from ${index};\nimport { setTimeout as sleep } from "node:timers/promises";\n${source}`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", main], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (printed.stderr += text));
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    hasPrinted: (text: string) => vi.waitFor(() => expect(printed.stdout).toContain(text), WAIT),
    async end() {
      const [code, signal] = await ended;
      return { code, ...(signal === null ? {} : { signal }), ...printed };
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const RUN_SERVICE = JSON.stringify(join(import.meta.dirname, "run/run-service.ts"));

const keepRunning = "setInterval(() => {}, 1000);";

test("a signal lets the main end in order, with code 0", async () => {
  await using main = startMain(`
    await using resource = { async [Symbol.asyncDispose]() { await sleep(50); console.log("closed"); } };
    using shutdown = onShutdown({ graceMs: 5000 });
    console.log("up");
    const keep = ${keepRunning}
    console.log(await shutdown.requested, shutdown.isRequested, shutdown.signal.aborted);
    clearInterval(keep);`);
  await main.hasPrinted("up");
  main.kill("SIGTERM");

  expect(await main.end()).toEqual({ code: 0, stdout: "up\nSIGTERM true false\nclosed\n", stderr: "" });
});

test("two signals at once, as of Ctrl-C under npm, are one request", async () => {
  await using main = startMain(`
    using shutdown = onShutdown({ graceMs: 5000 });
    await using resource = { async [Symbol.asyncDispose]() { console.log("closing"); await sleep(100); } };
    console.log("up");
    await shutdown.requested;`);
  await main.hasPrinted("up");
  main.kill("SIGINT");
  await main.hasPrinted("closing");
  main.kill("SIGINT");

  expect(await main.end()).toMatchObject({ code: 0, stderr: "" });
});

test("signals that go on until the process is gone, as it ends, do not end it by the signal", async () => {
  await using main = startMain(`
    {
      using shutdown = onShutdown({ graceMs: 5000 });
      await using resource = { async [Symbol.asyncDispose]() { console.log("closing"); } };
      console.log("up");
      await shutdown.requested;
    }
    process.kill(process.pid, "SIGINT"); // after disposal, before the end
    console.log("over");`);
  await main.hasPrinted("up");
  main.kill("SIGINT");
  await main.hasPrinted("closing");
  const end = main.end();
  await vi.waitUntil(() => !main.kill("SIGINT"), { ...WAIT, interval: 1 });

  expect(await end).not.toHaveProperty("signal");
});

test("signals that nobody has sent are Node's again after disposal", async () => {
  await using main = startMain(`
    { using shutdown = onShutdown({ graceMs: 5000 }); }
    console.log("up");
    ${keepRunning}`);
  await main.hasPrinted("up");
  main.kill("SIGTERM");

  expect(await main.end()).toMatchObject({ code: null, signal: "SIGTERM" });
});

test("when the grace is over the signal aborts what runs, and the code is 1", async () => {
  await using main = startMain(`
    using shutdown = onShutdown({ graceMs: 100 });
    console.log("up");
    const work = sleep(60_000, undefined, { signal: shutdown.signal });
    await work.catch((error) => console.log(error.name, shutdown.signal.reason.message));`);
  await main.hasPrinted("up");
  main.kill("SIGTERM");

  expect(await main.end()).toEqual({
    code: 1,
    stdout: "up\nAbortError Stopped: the grace of 100 ms is over\n",
    stderr: "",
  });
});

test("a stop that does not come to an end is left behind, with code 1", async () => {
  await using main = startMain(`
    using shutdown = onShutdown({ graceMs: 100 });
    console.log("up");
    ${keepRunning}
    await shutdown.requested;`);
  await main.hasPrinted("up");
  main.kill("SIGINT");

  expect(await main.end()).toEqual({
    code: 1,
    stdout: "up\n",
    stderr: "The process ends at once: work still runs 2100 ms after SIGINT\n",
  });
});

test("a second signal ends the process at once, with code 1", async () => {
  await using main = startMain(`
    using shutdown = onShutdown({ graceMs: 60_000 });
    shutdown.requested.then(() => console.log("asked"));
    console.log("up");
    ${keepRunning}
    await new Promise(() => {});`);
  await main.hasPrinted("up");
  main.kill("SIGTERM");
  await main.hasPrinted("asked");
  const end = main.end();
  await vi.waitUntil(() => !main.kill("SIGTERM"), WAIT); // the first second they are the same request

  expect(await end).toEqual({
    code: 1,
    stdout: "up\nasked\n",
    stderr: "The process ends at once: a second signal (SIGTERM)\n",
  });
});

test.each([
  ["an error thrown later", `setTimeout(() => { throw new Error("late"); }, 10); ${keepRunning}`],
  ["a rejection nobody handles", `Promise.reject(new Error("late")); ${keepRunning}`],
  [
    "a main that fails after it has disposed of all",
    `await using resource = { async [Symbol.asyncDispose]() {} }; throw new Error("late");`,
  ],
])("%s is logged once and ends the process with code 1", async (_, source) => {
  await using main = startMain(`
    const log = (fields, message) => console.log(fields.err.message, message);
    exitOnCrash({ debug: log, info: log, warn: log, error: log });
    console.log("up");
    ${source}`);

  expect(await main.end()).toEqual({
    code: 1,
    stdout: "up\nlate the process ends because of an uncaught error\n",
    stderr: "",
  });
});

test("what a library writes to the console after a service was disposed of is a line of the log too, without a secret", async () => {
  await using main = startMain(`
    import { runService } from ${RUN_SERVICE};
    import { registerSecret } from ${JSON.stringify(import.meta.resolve("@rockbot/base/redaction"))};
    registerSecret("canary-secret");
    const late = { async [Symbol.asyncDispose]() { setTimeout(() => console.warn("late canary-secret"), 200); } };
    const config = { shutdownGraceMs: 5000, logLevel: "info", healthHost: "127.0.0.1" };
    await runService({ service: "tests", load: () => config, start: async () => late });`);
  await main.hasPrinted('"ready"');
  main.kill("SIGTERM");

  expect(await main.end()).toEqual({ code: 0, stderr: "", stdout: expect.stringContaining('"msg":"late [redacted]"') });
});
