import type { Browser, Page } from "playwright-core";

/** An event of Chromium's trace; times are microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly ts: number;
  readonly dur?: number;
  /** Processor time. */
  readonly tdur?: number;
  readonly pid: number;
  readonly tid: number;
  readonly args?: {
    readonly name?: string;
    readonly data?: { readonly interactionId?: number; readonly duration?: number; readonly navigationId?: string };
  };
}

/** The tasks of the page's main thread that block it for so long. */
const LONG_US = 50_000;
const CATEGORIES = ["blink.user_timing", "devtools.timeline", "toplevel", "loading", "__metadata"];

/** What Chromium traced while `act` went on in a page. */
export async function traced(browser: Browser, page: Page, act: () => Promise<void>): Promise<readonly TraceEvent[]> {
  await browser.startTracing(page, { categories: CATEGORIES });
  let trace: Buffer;
  try {
    await act();
  } finally {
    trace = await browser.stopTracing();
  }
  return (JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] }).traceEvents;
}

/** From the last navigation to the mark, or to the end of the last long task that began before it, in milliseconds. */
export function interactiveMs(events: readonly TraceEvent[], mark: string): number {
  const shown = events.findLast(({ name }) => name === mark);
  if (shown === undefined) throw new Error(`The trace has no mark "${mark}"`);
  const ofPage = events.filter(({ pid }) => pid === shown.pid);
  const id = shown.args?.data?.navigationId;
  const start = ofPage.find(({ name, args }) => name === "navigationStart" && args?.data?.navigationId === id);
  if (start === undefined) throw new Error("The trace has no navigation");
  const ends = ofPage
    .filter(({ tid, dur = 0, ts }) => tid === shown.tid && dur > LONG_US && ts > start.ts && ts <= shown.ts)
    .map(({ ts, dur = 0 }) => ts + dur);
  return (Math.max(shown.ts, ...ends) - start.ts) / 1_000;
}

/** How long each interaction took until its next frame was drawn, in milliseconds. */
export function interactionsMs(events: readonly TraceEvent[]): number[] {
  const longest = new Map<number, number>();
  for (const { name, args } of events) {
    const { interactionId = 0, duration = 0 } = args?.data ?? {};
    if (name === "EventTiming" && interactionId > 0)
      longest.set(interactionId, Math.max(longest.get(interactionId) ?? 0, duration));
  }
  return [...longest.values()];
}

/** The most processor time that a task of the page's main thread took, in milliseconds: waiting for a processor is not in it. */
export function longestTaskMs(events: readonly TraceEvent[]): number {
  const { pid, tid } = events.find(({ name }) => name === "EventTiming") ?? {};
  return Math.max(0, ...events.flatMap((one) => (one.pid === pid && one.tid === tid ? (one.tdur ?? 0) : []))) / 1_000;
}
