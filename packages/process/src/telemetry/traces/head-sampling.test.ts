import { ROOT_CONTEXT, TraceFlags } from "@opentelemetry/api";
import { withTraceOrigin } from "@rockbot/bus";
import { expect, test } from "vitest";
import { HeadSampling } from "./head-sampling.ts";

const asked = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  traceFlags: TraceFlags.SAMPLED,
  isRemote: true,
};
const recordedOf = (traces: number, isRecorded: () => boolean): number =>
  Array.from({ length: traces }, isRecorded).filter((it) => it).length;

test("few traces are all recorded, of many as many as are allowed in a second", () => {
  let now = 0;
  const sampling = new HeadSampling({ now: () => now });
  const begun = () => sampling.isRecorded(ROOT_CONTEXT, undefined);

  expect(recordedOf(100, begun)).toBe(100);
  expect(recordedOf(100, begun)).toBe(0);
  now += 500;
  expect(recordedOf(100, begun)).toBe(50);
  now += 60_000;
  expect(recordedOf(1_000, begun)).toBe(100);
});

test("a share of the traces that begin here is recorded, and none with 0", () => {
  let now = 0;
  const some = new HeadSampling({ ratio: 0.25, now: () => (now += 1_000) });
  expect(recordedOf(4_000, () => some.isRecorded(ROOT_CONTEXT, undefined)) / 4_000).toBeCloseTo(0.25, 1);
  const none = new HeadSampling({ ratio: 0 });
  expect(recordedOf(100, () => none.isRecorded(ROOT_CONTEXT, undefined))).toBe(0);
  expect(none.isRecorded(ROOT_CONTEXT, asked)).toBe(true); // one of ours has decided
  expect(none.isRecorded(ROOT_CONTEXT, { ...asked, traceFlags: TraceFlags.NONE })).toBe(false);
});

test("a stranger's flag counts up to a rate of its own, and all strangers' up to one together", () => {
  const sampling = new HeadSampling({ now: () => 0 });
  const of = (stranger: string | undefined) => () =>
    sampling.isRecorded(withTraceOrigin(ROOT_CONTEXT, stranger), asked);

  expect(recordedOf(150, of("loud"))).toBe(100);
  expect(recordedOf(10, of("quiet"))).toBe(10);
  expect(recordedOf(1_500, of(undefined))).toBe(1_500);
  expect(recordedOf(100, () => sampling.isRecorded(ROOT_CONTEXT, undefined))).toBe(100);
  let one = 0;
  expect(recordedOf(2_000, () => of(`stranger ${one++}`)())).toBe(890);
});
