import { SamplingDecision } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";
import { RateLimitedSampler } from "./rate-limited-sampler.ts";

test("few traces are all recorded, of many as many as are allowed in a second", () => {
  let now = 0;
  const sampler = new RateLimitedSampler({ perSecond: 10, now: () => now });
  const recordedOf = (traces: number) =>
    Array.from({ length: traces }, () => sampler.shouldSample()).filter(
      ({ decision }) => decision === SamplingDecision.RECORD_AND_SAMPLED,
    ).length;

  expect(recordedOf(10)).toBe(10);
  expect(recordedOf(10)).toBe(0);
  now += 500;
  expect(recordedOf(10)).toBe(5);
  now += 60_000;
  expect(recordedOf(100)).toBe(10);
});
