import { expect, test, vi } from "vitest";
import { atScale, record } from "./figures.ts";
import { CallWorld, type Faults } from "./interleavings/call-world.ts";
import { explore } from "./interleavings/explore.ts";

vi.mock("@rockbot/base", async (original) => ({
  ...(await original<typeof import("@rockbot/base")>()),
  pause: (await import("./interleavings/call-world.ts")).pauseInWorld,
}));
// Once for all worlds: each moves the one clock on.
vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });

const isSoak = atScale(0, 1) > 0;
/** What happens beside the call, at any moments: each at most once, so that a set covers all that are part of it. */
const few: readonly (readonly (keyof Faults)[])[] = [
  ["deadlines"],
  ["copies", "crashes"],
  ["crashes", "lapses"],
  ["crashes", "cancels"],
  ["copies", "lapses"],
  ["crashes", "forgets"],
  ["copies", "forgets"],
  ["repeats", "forgets"],
  ["disconnects", "outages"],
  isSoak ? ["disconnects", "forgets"] : ["disconnects"],
];
const more: typeof few = [
  ["cancels", "lapses"],
  ["copies", "cancels"],
  ["copies", "deadlines"],
  ["crashes", "disconnects"],
  ["crashes", "deadlines"],
  ["disconnects", "lapses"],
  ["copies", "crashes", "lapses"],
  ["crashes", "cancels", "lapses"],
  ["crashes", "repeats"],
  ["crashes", "repeats", "forgets"],
  ["cancels", "forgets"],
  ["deadlines", "forgets"],
  ["copies", "crashes", "forgets"],
  ["crashes", "lapses", "forgets"],
  ["disconnects", "lapses", "forgets"],
];
/** Only what differs for a tool that may run twice. */
const fewer: typeof few = [["copies"], ["lapses"], ["crashes", "cancels"], ["crashes", "forgets"]];
/** The events for a tool that takes up what was begun; the soak has the cancel beside the crash, too. */
const fewest: typeof few = [["copies"], ["lapses"], ["cancels"], ["crashes", "forgets"]];

test.each([
  { tool: "with effects", isIdempotent: false, scenarios: isSoak ? [...few, ...more] : few },
  { tool: "that may run twice", isIdempotent: true, scenarios: isSoak ? few : fewer },
  { tool: "that takes up what was begun", isIdempotent: false, isResumable: true, scenarios: isSoak ? few : fewest },
])(
  "a call of a tool $tool has at most the effects it may, one answer, and never waits for ever, in whatever order two services and a caller get on: $tool",
  { timeout: isSoak ? 1_800_000 : 900_000 },
  async ({ tool, isIdempotent, isResumable, scenarios }) => {
    const sums = { states: 0, steps: 0, ends: 0, depth: 0 };
    for (const kinds of scenarios) {
      const faults = Object.fromEntries(kinds.map((kind) => [kind, 1]));
      const found = await explore(() =>
        CallWorld.begin({ faults, isIdempotent, isResumable, advance: (ms) => void vi.advanceTimersByTime(ms) }),
      );
      expect(found.ends, `with ${kinds.join(", ")}`).toBeGreaterThan(0);
      for (const sum of ["states", "steps", "ends"] as const) sums[sum] += found[sum];
      sums.depth = Math.max(sums.depth, found.depth);
    }
    await record({
      fault: "interleavings",
      done: `all orders of the steps of two services and a caller over one call of a tool ${tool}, with ${scenarios.length} sets of faults at every moment`,
      figures: {
        states: sums.states,
        "steps taken": sums.steps,
        "longest way": sums.depth,
        "ways to end": sums.ends,
        "rules broken": 0,
      },
    });
  },
);
