import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { MessageMeter } from "./message-meter.ts";

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const policyOf = async (text: string) => holdPolicy(createPolicy(await readPolicy(text, "test.yaml")));

test("each kind is bounded in number for each caller by itself, and has room again with time", () => {
  let now = 1_000_000;
  const meter = new MessageMeter({ log: quiet, clock: () => now });
  let taken = 0;
  while (meter.take("cancel", "flood", 100) === undefined) taken++;
  expect(taken).toBe(2_000); // 200 a second, saved for 10
  expect(meter.take("cancel", "flood", 100)).toBeGreaterThan(0);
  expect(meter.take("invoke", "flood", 100)).toBeUndefined();
  expect(meter.take("cancel", "other", 100)).toBeUndefined();
  now += 1_000;
  taken = 0;
  while (meter.take("cancel", "flood", 100) === undefined) taken++;
  expect(taken).toBe(200);
});

test("bytes are bounded beside the number, and one message that is larger than all room is taken when there is most", () => {
  const meter = new MessageMeter({ log: quiet, clock: () => 0 });
  const room = 10 * 64 * 1024;
  expect(meter.take("cancel", "flood", 50 * room)).toBeUndefined();
  expect(meter.take("cancel", "flood", 1)).toBeGreaterThan(0);
});

test("the policy says how much, for everyone and for a caller, one by one", async () => {
  const policy = await policyOf(`
everyone: { allow: ['*'], limits: { messages: { cancel: { perSecond: 1 } } } }
callers: { named: { limits: { messages: { refresh: { perSecond: 0.5 } } } } }
`);
  const meter = new MessageMeter({ policy, log: quiet, clock: () => 0 });
  const takenOf = (kind: "cancel" | "refresh", caller: string): number => {
    let taken = 0;
    while (meter.take(kind, caller, 0) === undefined) taken++;
    return taken;
  };
  expect([takenOf("cancel", "named"), takenOf("refresh", "named"), takenOf("refresh", "anybody")]).toEqual([10, 5, 20]);
});

test("a flood of drops is a line a minute for a caller, which says how many, and a bounded number for all that anybody makes up", () => {
  let now = 0;
  const lines: object[] = [];
  const meter = new MessageMeter({ log: { ...quiet, warn: (fields) => void lines.push(fields) }, clock: () => now });
  for (let i = 0; i < 5_000; i++) meter.drop("cancel", "flood");
  expect(lines).toEqual([{ kind: "cancel", caller: "flood", dropped: 1 }]);
  now += 60_000;
  meter.drop("cancel", "flood");
  expect(lines[1]).toEqual({ kind: "cancel", caller: "flood", dropped: 5_000 });
  for (let i = 0; i < 5_000; i++) meter.drop("cancel", `made-up-${i}`);
  expect(lines.length).toBeLessThanOrEqual(62);
});
