import { expect, test } from "vitest";
import { createPageConverter, PageConversionError } from "./page-converter.ts";

const url = "https://example.test/";
/** Takes the parser some 100 seconds: its time grows with the square of the depth. */
const endlessPage = "<div>".repeat(800_000);

test("pages are converted, one after the other and at once", async () => {
  await using converter = createPageConverter();

  expect(await converter.convert("<title>T</title><body><p>one", url)).toEqual({ title: "T", markdown: "one" });
  const pages = await Promise.all([1, 2, 3, 4, 5].map((i) => converter.convert(`<body><p>${i}`, url)));
  expect(pages.map(({ markdown }) => markdown)).toEqual(["1", "2", "3", "4", "5"]);
});

test("a page that takes too long ends its own conversion, and nothing else", async () => {
  await using converter = createPageConverter({ timeoutMs: 2_000, maxWorkers: 1 });
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 50);

  const [slow, next] = await Promise.allSettled([converter.convert(endlessPage, url), converter.convert("<body><p>next", url)]);
  clearInterval(ticking);
  expect(slow).toMatchObject({ status: "rejected", reason: expect.any(PageConversionError) });
  expect(slow).toMatchObject({ reason: { message: "it takes longer than 2000 ms" } });
  expect(next).toMatchObject({ status: "fulfilled", value: { markdown: "next" } });
  expect(ticks).toBeGreaterThan(20); // the event loop was free all along
});

test("a page of too many nodes is refused in words", async () => {
  await using converter = createPageConverter();

  await expect(converter.convert(`<body>${"<br>".repeat(250_000)}`, url)).rejects.toThrow("it has more than 200000 nodes");
});

test("a page that takes too much memory ends its own conversion, and nothing else", async () => {
  await using converter = createPageConverter({ maxHeapMb: 24, maxWorkers: 1 });

  await expect(converter.convert(`<body>${"<p>some text in a paragraph</p>".repeat(90_000)}`, url)).rejects.toThrow("it takes too much memory");
  expect(await converter.convert("<body><p>next", url)).toMatchObject({ markdown: "next" });
});

test("aborting ends a conversion, running or waiting", async () => {
  await using converter = createPageConverter({ maxWorkers: 1 });
  const abort = new AbortController();
  const reason = new Error("given up");
  const running = converter.convert(endlessPage, url, { signal: abort.signal });
  const waiting = converter.convert("<body><p>never", url, { signal: abort.signal });
  abort.abort(reason);

  await expect(running).rejects.toBe(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(await converter.convert("<body><p>next", url)).toMatchObject({ markdown: "next" });
});

test("a worker that is idle ends, and a new one starts when there is work", async () => {
  await using converter = createPageConverter({ idleMs: 1 });

  for (const text of ["one", "two"]) {
    expect(await converter.convert(`<body><p>${text}`, url)).toMatchObject({ markdown: text });
    await new Promise((resolve) => setImmediate(resolve));
  }
});
