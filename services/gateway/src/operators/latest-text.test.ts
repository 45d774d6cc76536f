import { expect, test } from "vitest";
import { LatestText } from "./latest-text.ts";

const never = new AbortController().signal;

test("a text is made once for all who look, and who is slow gets the newest", async () => {
  let made = 0;
  const text = new LatestText(5, async () => `state ${++made}`);
  const viewers = Array.from({ length: 20 }, () => text.follow(undefined));
  const slow = text.follow(undefined);
  for (let round = 1; round <= 3; round++) {
    const had = await Promise.all(viewers.map((viewer) => viewer.next(20_000, never)));
    expect(new Set(had).size).toBe(1); // the same bytes, not a copy for each
  }
  expect(Buffer.from((await slow.next(20_000, never)) ?? []).toString()).toBe(`state ${made}`);
  for (const viewer of [...viewers, slow]) viewer[Symbol.dispose]();
});

test("nothing is made while nobody looks, and a text that cannot be made is made again", async () => {
  let asked = 0;
  const text = new LatestText(1, async () => {
    if (++asked < 3) throw new Error("not now");
    return "state";
  });
  expect(asked).toBe(0);
  {
    using viewer = text.follow(undefined);
    expect(await viewer.next(20_000, never)).toEqual(Buffer.from("state"));
    const gone = AbortSignal.abort();
    expect(await viewer.next(20_000, gone)).toBeUndefined();
  }
  const before = asked;
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(asked).toBe(before);
});
