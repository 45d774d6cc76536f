import { sharedAmqpUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { countOutcomes, settleCall, tally } from "./agent/settle-calls.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { record } from "./figures.ts";
import { openScene } from "./scene.ts";

const CONCURRENCY = 4;
const FLOOD = 300;
/** What one caller may have out. */
const IN_FLIGHT = 256;
const busUrl = await sharedAmqpUrl();

test(`F12: ${FLOOD} calls of a slow tool run ${CONCURRENCY} at a time, those over the caller's limit are refused at once, and another service is as fast as before`, {
  timeout: 60_000,
}, async () => {
  await using slow = await openScene(busUrl);
  await using fast = await openScene(busUrl);
  await using _slow = await startEffectService({ ...slow.service, concurrency: CONCURRENCY });
  await using _fast = await startEffectService(fast.service);
  await Promise.all([slow.caller.discovered(), fast.caller.discovered()]);
  const p90Ms = async () => {
    const ms: number[] = [];
    for (let index = 0; index < 50; index++) {
      const settled = await settleCall(fast.caller, fast.tool("read"), { id: "fast" }, { timeoutMs: 5_000 });
      expect(settled.outcome).toBe("ok");
      ms.push(settled.ms);
    }
    return ms.toSorted((a, b) => a - b)[44] ?? 0;
  };

  await p90Ms(); // the first calls subscribe, and warm up
  const idleMs = await p90Ms();
  const callSlow = (index: number, timeoutMs: number) =>
    settleCall(slow.caller, slow.tool("read"), { id: `slow-${index}`, holdMs: 30_000 }, { timeoutMs });
  // Those that run outlast those behind them, which therefore may never begin.
  const running = Array.from({ length: CONCURRENCY }, (_, index) => callSlow(index, 8_000));
  await expect.poll(async () => (await slow.ledger.count("effect")).size, { timeout: 8_000 }).toBe(CONCURRENCY);
  const behind = Array.from({ length: FLOOD - CONCURRENCY }, (_, index) => callSlow(CONCURRENCY + index, 4_000));
  let isFloodOver = false;
  const flood = Promise.all(behind).finally(() => {
    isFloodOver = true;
  });
  const first = await settleCall(fast.caller, fast.tool("read"), { id: "fast" }, { timeoutMs: 5_000 });
  expect([first.outcome, isFloodOver]).toEqual(["ok", false]); // not held up behind the flood; how fast exactly is recorded below
  const busyMs = await p90Ms();
  const waited = await flood;
  const settled = [...(await Promise.all(running)), ...waited];

  expect(countOutcomes(settled)).toEqual({ timeout: IN_FLIGHT, overloaded: FLOOD - IN_FLIGHT });
  expect(settled.filter(({ isLate }) => isLate)).toEqual([]);
  expect((await slow.ledger.count("effect")).size).toBe(CONCURRENCY);
  await record({
    fault: "F12",
    done: `${FLOOD} calls of a tool that takes 30 s, ${CONCURRENCY} at a time`,
    figures: {
      ...tally(settled, await slow.ledger.count("effect")),
      "run at most": CONCURRENCY,
      "other service, p90 ms idle": Math.round(idleMs),
      "p90 ms meanwhile": Math.round(busyMs),
    },
  });
});
