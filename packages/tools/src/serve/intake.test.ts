import { createMemoryBus } from "@rockbot/bus";
import type { ToolError } from "@rockbot/contracts";
import { expect, test, vi } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { heldTool, testSet } from "../test-tools.ts";
import { Intake } from "./intake.ts";
import { serveTools } from "./serve-tools.ts";

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test("a caller alone may have any number here, and no more is taken for it than is handled", async () => {
  let times = 0;
  const takeMore = async () => {
    times++;
    return { [Symbol.asyncDispose]: async () => {} };
  };
  await using intake = new Intake({ handlers: 4, concurrency: 2, takeMore, log });
  for (let i = 0; i < 1_000; i++) {
    expect(intake.hasRoom("alone", 1, 256)).toBe(true);
    intake.hold("alone", 1);
  }
  expect(times).toBe(0);
});

test("one that has most handlers while others are there is bounded in number and bytes, the others are not, and it ends with the crowd", async () => {
  let now = 0;
  const events: string[] = [];
  const takeMore = async () => {
    events.push("more");
    return { [Symbol.asyncDispose]: async () => void events.push("no more") };
  };
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    await using intake = new Intake({ handlers: 4, concurrency: 2, takeMore, log, clock: () => now });
    intake.hold("other", 1)[Symbol.dispose]();
    const held: Disposable[] = [];
    while (intake.hasRoom("crowding", 1, 300) && held.length < 10_000) held.push(intake.hold("crowding", 1));
    expect(held).toHaveLength(300);
    expect(intake.hasRoom("other", 1, 1)).toBe(true);
    for (const one of held) one[Symbol.dispose]();
    let taken = 0;
    while (intake.hasRoom("crowding", 1, 300) && taken < 10_000) {
      intake.hold("crowding", 1)[Symbol.dispose](); // done at once
      taken++;
    }
    expect(taken).toBe(100); // a second, however fast they are, until it has sent less for a while
    expect(intake.hasRoom("other", 1, 1)).toBe(true);
    expect(intake.hasRoom("large", 100 * 1024 * 1024, 256)).toBe(true); // the first, whatever it has
    intake.hold("large", 100 * 1024 * 1024);
    expect(intake.hasRoom("large", 1, 256)).toBe(false);
    now += 11_000;
    vi.advanceTimersByTime(11_000);
    await vi.waitFor(() => expect(events).toEqual(["more", "no more"]));
    expect(intake.hasRoom("large", 1, 256)).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test("who drops many is taken more of whoever else is there, and who drops a few is not", async () => {
  let now = 0;
  let times = 0;
  const takeMore = async () => {
    times++;
    return { [Symbol.asyncDispose]: async () => {} };
  };
  await using intake = new Intake({ handlers: 4, concurrency: 2, takeMore, log, clock: () => now });
  for (let i = 0; i < 20; i++, now += 500) intake.drop("alone");
  expect(times).toBe(0);
  for (let i = 0; i < 4; i++) intake.drop("alone");
  expect(times).toBe(1);
});

test("one that crowds a service has a share of what runs at once, so that another's call runs although none of its ends", async () => {
  await using bus = createMemoryBus();
  const { tool, running, endAll } = heldTool("hold", { readOnly: true });
  await using _ = await serveTools(bus, testSet(tool), { service: "tests", concurrency: 8 });
  await using other = await createToolCaller(bus, { agent: "other" });
  await using crowd = await createToolCaller(bus, { agent: "crowd", maxCallsInFlight: 5_000 });
  await Promise.all([other.discovered(), crowd.discovered()]);
  const first = other.call("hold", {});
  await vi.waitFor(() => expect(running).toHaveLength(1));
  const over = new AbortController();
  for (let i = 0; i < 200; i++) crowd.call("hold", {}, { signal: over.signal }).catch(() => {});
  await vi.waitFor(() => expect(running.length).toBeGreaterThan(1));
  endAll(); // those from before it was known as a crowd
  await first;
  await vi.waitFor(() => {
    const extra = running.slice(0, -6);
    for (const call of extra) call.end();
    expect(extra).toHaveLength(0);
    expect(running).toHaveLength(6); // of eight that may, while many wait
  });
  const late = other.call("hold", {});
  await vi.waitFor(() => expect(running.at(-1)?.caller).toBe("other"));
  running.at(-1)?.end();
  await late;
  over.abort();
  endAll();
});

test("a caller whose calls lie behind a crowd of another's has its turn next, and the crowd is refused what is too many", async () => {
  await using bus = createMemoryBus();
  const { tool, running, endAll } = heldTool("hold", { readOnly: true });
  await using _ = await serveTools(bus, testSet(tool), { service: "tests", concurrency: 2 });
  await using other = await createToolCaller(bus, { agent: "other" });
  await using crowd = await createToolCaller(bus, { agent: "crowd", maxCallsInFlight: 5_000 });
  await Promise.all([other.discovered(), crowd.discovered()]);
  const first = other.call("hold", {});
  await vi.waitFor(() => expect(running).toHaveLength(1));
  const over = new AbortController();
  const ends: string[] = [];
  for (let i = 0; i < 1_000; i++)
    crowd.call("hold", {}, { signal: over.signal }).catch((error: ToolError) => void ends.push(error.code));
  await vi.waitFor(() => expect(running.some(({ caller }) => caller === "crowd")).toBe(true));
  const late = other.call("hold", {});
  await vi.waitFor(() => expect(ends).toContain("rate_limited"));
  endAll();
  await first;
  let ended = 0;
  await vi.waitFor(() => {
    for (const call of running.filter(({ caller }) => caller === "crowd")) {
      call.end();
      ended++;
    }
    expect(running.some(({ caller }) => caller === "other")).toBe(true);
  });
  expect(ended).toBeLessThan(20); // of 256 that wait here, and more on the bus
  for (const call of running.filter(({ caller }) => caller === "other")) call.end();
  await late;
  over.abort();
  endAll();
});
