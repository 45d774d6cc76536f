import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createPageConverter, PageConversionError } from "./page-converter.ts";

const url = "https://example.test/";
/** Takes seconds, needs more than the least heap that Node starts with, and is still below the limit of nodes. */
const heavyPage = `<body>${"<p>some text in a paragraph</p>".repeat(90_000)}`;

/** The processes that this one has started and that convert pages. */
async function pageProcesses(): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const isOurs = async (pid: string): Promise<boolean> => {
    const [status, command] = await Promise.all([
      readFile(`/proc/${pid}/status`, "utf8"),
      readFile(`/proc/${pid}/cmdline`, "utf8"),
    ]).catch(() => ["", ""]);
    return status.includes(`\nPPid:\t${process.pid}\n`) && command.includes("page-process-main");
  };
  const ours = await Promise.all(pids.map(isOurs));
  return pids.filter((_, i) => ours[i]).map(Number);
}

test("pages are converted, one after the other and at once", async () => {
  await using converter = createPageConverter({ processes: 2 });

  expect(await converter.convert("<title>T</title><body><p>one", url)).toEqual({ title: "T", markdown: "one" });
  const pages = await Promise.all([1, 2, 3, 4, 5].map((i) => converter.convert(`<body><p>${i}`, url)));
  expect(pages.map(({ markdown }) => markdown)).toEqual(["1", "2", "3", "4", "5"]);
  expect(await pageProcesses()).toHaveLength(2);
});

test("a page whose scripts have run does not need a browser, however little it shows", async () => {
  await using converter = createPageConverter();
  const page = "<div id=root>Sign in</div><script src=app.js></script>";

  expect(await converter.convert(page, url)).toMatchObject({ needsBrowser: true });
  expect(await converter.convert(page, url, { isDrawn: true })).toEqual({ title: null, markdown: "Sign in" });
});

test("a page that takes too long ends its own conversion, and nothing else", async () => {
  await using converter = createPageConverter({ timeoutMs: 500 });
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 50);

  const [slow, next] = await Promise.allSettled([
    converter.convert(heavyPage, url),
    converter.convert("<body><p>next", url),
  ]);
  clearInterval(ticking);
  expect(slow).toMatchObject({ status: "rejected", reason: expect.any(PageConversionError) });
  expect(slow).toMatchObject({ reason: { message: "it takes longer than 500 ms" } });
  expect(next).toMatchObject({ status: "fulfilled", value: { markdown: "next" } });
  expect(ticks).toBeGreaterThan(5); // the event loop was free all along
});

test("a process that gets no processor for a while costs the page nothing; one that gets none at all is the machine's fault", async () => {
  await using converter = createPageConverter({ timeoutMs: 300 });
  await converter.convert("<body><p>warm", url);
  const [pid = 0] = await pageProcesses();
  process.kill(pid, "SIGSTOP");
  const delayed = converter.convert("<body><p>late", url);
  setTimeout(() => process.kill(pid, "SIGCONT"), 600);
  expect(await delayed).toMatchObject({ markdown: "late" });

  process.kill(pid, "SIGSTOP");
  await expect(converter.convert("<body><p>never", url)).rejects.toMatchObject({
    code: "unavailable",
    isRetryable: true,
  });
  expect(await converter.convert("<body><p>next", url)).toMatchObject({ markdown: "next" });
});

test("a page of too many nodes is refused in words", async () => {
  await using converter = createPageConverter({ timeoutMs: 15_000 });

  await expect(converter.convert(`<body>${"<br>".repeat(250_000)}`, url)).rejects.toThrow(
    "it has more than 200000 nodes",
  );
});

test("a page whose markdown is too long is refused in words", async () => {
  await using converter = createPageConverter({ maxLength: 1_000 });

  await expect(converter.convert(`<body>${"text ".repeat(1_000)}`, url)).rejects.toThrow(
    "it has more than 1000 characters once it is converted",
  );
});

test("a page that takes too much memory ends its own conversion, and nothing else", async () => {
  await using converter = createPageConverter({ maxHeapMb: 24, timeoutMs: 15_000 });

  await expect(converter.convert(heavyPage, url)).rejects.toThrow("it takes too much memory");
  expect(await converter.convert("<body><p>next", url)).toMatchObject({ markdown: "next" });
});

test("a page whose process holds too much memory, though V8 allows it, ends its own conversion, and nothing else", async () => {
  await using converter = createPageConverter({ maxMemoryMb: 160, timeoutMs: 15_000 });

  await expect(converter.convert(heavyPage, url)).rejects.toThrow("it takes too much memory");
  expect(await converter.convert("<body><p>next", url)).toMatchObject({ markdown: "next" });
});

test("a page that makes V8 give up inside native code ends its own conversion, and nothing else", async () => {
  await using converter = createPageConverter({ maxHeapMb: 100, maxLength: 1e9, timeoutMs: 18_000 });
  const longLinks = `<base href="http://x/${"a".repeat(2_000)}/">${"<p><a href=b>c</a>".repeat(60_000)}`;

  await expect(converter.convert(longLinks, url)).rejects.toThrow("it takes too much memory");
  expect(await converter.convert("<body><p>next", url)).toMatchObject({ markdown: "next" });
});

test("a process that cannot start is no fault of the page", async () => {
  await using converter = createPageConverter({ maxHeapMb: 1 }); // less than Node itself needs

  await expect(converter.convert("<body><p>x", url)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("does not start"),
  });
});

test("aborting ends a conversion, running or waiting", async () => {
  await using converter = createPageConverter();
  const abort = new AbortController();
  const reason = new Error("given up");
  const running = converter.convert(heavyPage, url, { signal: abort.signal });
  const waiting = converter.convert("<body><p>never", url, { signal: abort.signal });
  abort.abort(reason);

  await expect(running).rejects.toBe(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(await converter.convert("<body><p>next", url)).toMatchObject({ markdown: "next" });
});

test("a process that is idle ends, and nobody gets one that is about to end", async () => {
  await using converter = createPageConverter({ idleMs: 5 });

  for (let i = 0; i < 8; i++) {
    expect(await converter.convert(`<body><p>${i}`, url)).toMatchObject({ markdown: String(i) });
    // Around the end of the idle time, now before it and now after it.
    await new Promise((resolve) => setTimeout(resolve, 4 + (i % 4)));
  }
  await expect.poll(pageProcesses, { timeout: 10_000 }).toEqual([]);
}, 60_000);

test("a process that was killed while it was idle is replaced", async () => {
  await using converter = createPageConverter();
  await converter.convert("<body><p>one", url);
  const killIdle = async () => {
    const [pid = 0] = await pageProcesses();
    process.kill(pid, "SIGKILL");
  };
  await killIdle();
  await expect.poll(pageProcesses, { timeout: 10_000 }).toEqual([]);
  expect(await converter.convert("<body><p>two", url)).toMatchObject({ markdown: "two" });

  await killIdle(); // and nobody has heard of it yet
  expect(await converter.convert("<body><p>three", url)).toMatchObject({ markdown: "three" });
});

test("disposal cancels what runs and what waits, and leaves no process behind", async () => {
  const converter = createPageConverter();
  await converter.convert("<body><p>warm", url);
  const running = converter.convert(heavyPage, url);
  const waiting = converter.convert("<body><p>never", url);
  const ends = Promise.allSettled([running, waiting]);
  await converter[Symbol.asyncDispose]();

  const cancelled = { status: "rejected", reason: { code: "cancelled" } };
  expect(await ends).toMatchObject([cancelled, cancelled]);
  expect(await pageProcesses()).toEqual([]);
  await expect(converter.convert("<body><p>late", url)).rejects.toMatchObject({ code: "cancelled" });
  expect(await pageProcesses()).toEqual([]);
});

test("a process gets nothing of the environment", async () => {
  await using converter = createPageConverter();
  await converter.convert("<body><p>x", url);
  const [pid = 0] = await pageProcesses();

  expect(readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").filter(Boolean)).toEqual([
    "MALLOC_ARENA_MAX=1",
    "MALLOC_MMAP_THRESHOLD_=131072",
    expect.stringMatching(/^NODE_CHANNEL_FD=/),
    expect.stringMatching(/^NODE_CHANNEL_SERIALIZATION_MODE=/),
  ]);
});

test("a process ends when its parent is gone, and not at Ctrl-C, which is for the parent", async () => {
  const program = fork(join(import.meta.dirname, "page-process-main.ts"), [], {
    env: {},
    execArgv: [],
    serialization: "advanced",
  });
  const ended = once(program, "exit");
  await once(program, "message");
  program.kill("SIGINT");
  program.send({ html: "<body><p>x", url, form: "markdown", maxLength: 10 });
  expect(await once(program, "message")).toMatchObject([{ result: { markdown: "x" } }, undefined]);
  program.disconnect();

  expect(await ended).toEqual([0, null]);
});
