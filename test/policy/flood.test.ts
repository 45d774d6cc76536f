import { sharedAmqpUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { FLOOD_POLICY, overBroker, runFlood } from "./flood.ts";

const busUrl = await sharedAmqpUrl();

test("a caller that floods a service is refused in words, and another is served as if it were alone", {
  timeout: 120_000,
}, async () => {
  const { quietEnds, quietMs, floodErrors, floodAnswered } = await runFlood({
    openBuses: () => overBroker(busUrl),
    isFlooded: true,
    policy: FLOOD_POLICY,
    seconds: 3,
  });
  expect(new Set(quietEnds)).toEqual(new Set(["ok"]));
  expect(quietMs.at(-1)).toBeLessThan(10_000); // `npm run measure -- policy` has the figures: here the service must only not be full
  expect(floodAnswered).toBeGreaterThan(0);
  expect(floodErrors.length).toBeGreaterThan(floodAnswered);
  for (const error of floodErrors) {
    expect(["rate_limited", "overloaded"]).toContain(error.code);
    expect(error).toMatchObject({ isRetryable: true, retryAfterMs: expect.any(Number) });
    expect(error.retryAfterMs).toBeGreaterThan(0);
  }
});
