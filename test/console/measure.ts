/**
 * Measures the console in Chromium: how soon its page can be used, how soon it shows a killed service, and what viewers
 * cost its gateway. Writes docs/measured/console.md; `--quick` for a look, which writes nothing.
 */
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { interactionsMs, interactiveMs, longestTaskMs, traced } from "./browser-trace.ts";
import { type ConsoleWorld, startConsoleWorld } from "./console-world.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const sizes = values.quick
  ? { loads: 2, calls: 500, kills: 2, rounds: 2, roundMs: 3_000 }
  : { loads: 7, calls: 10_000, kills: 10, rounds: 4, roundMs: 15_000 };
const PER_SECOND = 200;
const VIEWERS = 20;
const AT_ONCE = 32;
/** A clock tick of Linux, in which it counts processor time. */
const TICK_MS = 10;
// Scripts of the page, which has types of its own.
const MARK_SERVICES = `
  new MutationObserver((_, seen) => {
    if (document.querySelector("main table tbody tr") === null) return;
    performance.mark("services-shown");
    seen.disconnect();
  }).observe(document, { childList: true, subtree: true })`;
const WHEN_GONE = `
  new Promise((resolve) => {
    new MutationObserver((_, watch) => {
      if (!document.body.textContent.includes('"echo" is gone')) return;
      watch.disconnect();
      resolve(Date.now());
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  })`;

const load = loadavg()[0] ?? 0;
await using world = await startConsoleWorld();
const interactive = await loads(world);
const killed = await kills(world);
const cost = await viewers(world);
const more = median(cost.with) - median(cost.without);
const noise = Math.max(...[cost.with, cost.without].map((rounds) => Math.max(...rounds) - Math.min(...rounds)));
const { interactions, rows, longestTask } = await manyRows(world);
const figures = [
  ["First page can be used, median", `${median(interactive).toFixed(0)} ms`, "< 1000 ms", median(interactive) < 1_000],
  [
    `Slowest of ${interactions.length} interactions at ${rows} rows`,
    `${Math.max(0, ...interactions).toFixed(0)} ms`,
    "≤ 100 ms",
    interactions.length > 0 && Math.max(...interactions) <= 100,
  ],
  [
    `\`kill -9\` of a service is seen, p95 of ${killed.length}`,
    `${rank(killed, 0.95).toFixed(0)} ms`,
    "< 2000 ms",
    rank(killed, 0.95) < 2_000,
  ],
  [
    `${VIEWERS} viewers at ${PER_SECOND} calls/s, more than none`,
    `${(more * 100).toFixed(1)} % of a core, and rounds of one kind differ by ${(noise * 100).toFixed(1)} %`,
    "< 5 %",
    more + noise < 0.05,
  ],
] as const;
const page = `<!-- Written by \`npm run measure -- console\`. Do not edit. -->
# What the console takes

Measured by \`npm run measure -- console\` on ${cpus().length} cores (${cpus()[0]?.model.trim() ?? "unknown"}), Node ${process.versions.node}, Chromium ${world.browser.version()}, at a load of ${load.toFixed(1)} from elsewhere. Broker,
gateway, service, browser and callers share the machine. A load above the number of cores makes each figure coarse.

| figure | measured | aim | met |
|---|---|---|---|
${figures.map(([what, is, aim, isMet]) => `| ${what} | ${is} | ${aim} | ${isMet === true ? "yes" : isMet || "no"} |`).join("\n")}

- The first page: from the navigation to the table of services, by the browser's own trace. A task of more than 50 ms that began before counts to its end. Each of ${interactive.length} loads is of
  a session that is logged in: ${list(interactive)} ms.
- Interactions: keys in the list of *Calls* and in its search fields, and clicks, each until its next frame, by the trace. The page has read ${rows} calls before, by scrolling to the last one. In milliseconds: ${list(interactions)}.
  No task of the page took more than ${longestTask.toFixed(0)} ms of processor time. The rest is waiting for a processor.
- Killed: from the signal to the words in the page: ${list(killed)} ms.
- Viewers: processor time of the gateway's process in ${sizes.rounds} rounds of ${sizes.roundMs / 1_000} s each, in turn, as % of a core. Without viewers: ${percents(cost.without)}. With ${VIEWERS}: ${percents(cost.with)}.
  The calls come by HTTP, and each viewer got ${cost.statesPerSecond.toFixed(2)} states a second. Where rounds of one kind differ by more than the two kinds do, the cost is below what this run can show.
`;
process.stdout.write(page);
if (!values.quick) await writeFile(join(import.meta.dirname, "../../docs/measured/console.md"), page);

async function loads({ browser, openTab, startService }: ConsoleWorld): Promise<number[]> {
  await using _service = await startService();
  const page = await openTab();
  await page.addInitScript(MARK_SERVICES);
  const took: number[] = [];
  for (let i = 0; i < sizes.loads; i++) {
    const events = await traced(browser, page, async () => {
      await page.reload();
      await page.getByRole("row").nth(1).waitFor();
      await pause(200); // a long task that began before it ends in the trace
    });
    const byTrace = interactiveMs(events, "services-shown");
    // The page's own clock begins at the same navigation: a figure from before the mark is of something else.
    const byPage = (await page.evaluate('performance.getEntriesByName("services-shown")[0].startTime')) as number;
    if (byTrace < byPage - 1) throw new Error(`The trace says ${byTrace} ms, and the page ${byPage}`);
    took.push(byTrace);
  }
  await page.context().close();
  return took;
}

async function kills({ openTab, startService }: ConsoleWorld): Promise<number[]> {
  const page = await openTab();
  const took: number[] = [];
  for (let i = 0; i < sizes.kills; i++) {
    await using service = await startService();
    await page.getByRole("row").filter({ hasText: "echo" }).getByText("ready").waitFor();
    const seen = page.evaluate(WHEN_GONE) as Promise<number>;
    await pause(Math.random() * 1_000); // at any moment between two looks of the gateway
    const at = Date.now();
    service.kill("SIGKILL");
    took.push((await seen) - at);
  }
  await page.context().close();
  return took;
}

/** The parts of a core that the gateway takes in each round, without and with viewers. */
async function viewers(of: ConsoleWorld) {
  await using _service = await of.startService();
  await untilServed(of);
  const rounds = { without: [] as number[], with: [] as number[] };
  let states = 0;
  await callAtRate(of, 3_000);
  for (let round = 0; round < sizes.rounds; round++) {
    // Each comes first in half of the rounds, so that what changes with time is in both.
    const isFirstWithout = round % 2 === 0;
    if (isFirstWithout) rounds.without.push(await coresAt(of));
    const stop = new AbortController();
    const following = Array.from({ length: VIEWERS }, () => of.follow(stop.signal));
    await pause(1_000);
    rounds.with.push(await coresAt(of));
    stop.abort();
    for (const each of await Promise.all(following)) states += each;
    await pause(2_000); // until the gateway has seen that they are gone: one operator has 32 places
    if (!isFirstWithout) rounds.without.push(await coresAt(of));
  }
  const seconds = (sizes.rounds * sizes.roundMs) / 1_000;
  return { ...rounds, statesPerSecond: states / VIEWERS / seconds };
}

/** The part of a core that the gateway takes at the rate of calls. */
async function coresAt(of: ConsoleWorld): Promise<number> {
  const before = cpuMs(of.gateway.pid);
  const start = performance.now();
  await callAtRate(of, sizes.roundMs);
  return (cpuMs(of.gateway.pid) - before) / (performance.now() - start);
}

async function callAtRate({ call }: ConsoleWorld, ms: number): Promise<void> {
  const start = performance.now();
  const out = new Set<Promise<void>>();
  for (let made = 0; performance.now() - start < ms; ) {
    for (; made < ((performance.now() - start) * PER_SECOND) / 1_000; made++) {
      const one: Promise<void> = call().finally(() => out.delete(one));
      out.add(one);
    }
    await pause(5);
  }
  await Promise.all(out);
}

async function manyRows(
  of: ConsoleWorld,
): Promise<{ readonly interactions: readonly number[]; readonly rows: number; readonly longestTask: number }> {
  await using _service = await of.startService();
  await untilServed(of);
  for (let made = 0; made < sizes.calls; made += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, of.call));
  const page = await of.openTab();
  await page.goto(`${of.url}/console/calls`);
  await page.getByRole("link", { name: /echo/ }).first().waitFor();
  const place = page.locator(".rows");
  let rows = 0;
  while (rows < sizes.calls) {
    await place.evaluate((element) => element.scrollTo(0, (element as { scrollHeight: number }).scrollHeight));
    await pause(100);
    rows = Number(/\d+/.exec((await place.getAttribute("aria-label")) ?? "")?.[0]);
  }
  const field = page.getByRole("textbox").first();
  const events = await traced(of.browser, page, async () => {
    await place.focus();
    for (const key of ["Home", "PageDown", "PageDown", "End", "PageUp", "Home"]) {
      await page.keyboard.press(key);
      await pause(200);
    }
    await field.click();
    await field.pressSequentially("gateway", { delay: 60 });
    await pause(1_000);
    for (let i = 0; i < 7; i++) await page.keyboard.press("Backspace", { delay: 30 });
    await page.getByRole("link", { name: /echo/ }).nth(3).click();
    await pause(1_000);
  });
  await page.context().close();
  return { interactions: interactionsMs(events), rows, longestTask: longestTaskMs(events) };
}

async function untilServed({ call }: ConsoleWorld): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const error = await call().then(
      () => undefined,
      (why: unknown) => why,
    );
    if (error === undefined) return;
    if (attempt === 50) throw error;
    await pause(200);
  }
}

function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function rank(numbers: readonly number[], part: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.ceil(part * numbers.length) - 1] ?? Number.NaN;
}

function median(numbers: readonly number[]): number {
  return rank(numbers, 0.5);
}

function percents(parts: readonly number[]): string {
  return parts.map((each) => (each * 100).toFixed(1)).join(", ");
}

function list(numbers: readonly number[]): string {
  return numbers.map((each) => each.toFixed(0)).join(", ");
}
