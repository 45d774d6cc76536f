import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { TextMemo } from "./text-memo.ts";

test("a text is worked out once, as long as there is room", () => {
  const memo = new TextMemo<number | undefined>({ maxTexts: 2, maxLength: 3 });
  const read: string[] = [];
  const of = (text: string): number | undefined =>
    memo.of(text, (own) => {
      read.push(own);
      return own === "none" || own === "" ? undefined : own.length;
    });

  expect(["a", "", "a", "", "long", "long", "b", "a"].map(of)).toEqual([1, undefined, 1, undefined, 4, 4, 1, 1]);
  expect(read).toEqual(["a", "", "long", "long", "b", "a"]);
});

test("what fails is not kept", () => {
  const memo = new TextMemo<number>({ maxTexts: 2, maxLength: 9 });

  expect(() =>
    memo.of("a", () => {
      throw new Error("too much");
    }),
  ).toThrow("too much");
  expect(memo.of("a", () => 1)).toBe(1);
});

test("it does not keep the pages that texts were cut out of", () => {
  setFlagsFromString("--expose-gc");
  onTestFinished(() => setFlagsFromString("--no-expose-gc"));
  const collect = runInNewContext("gc") as () => void;
  const memo = new TextMemo<string>({ maxTexts: 100, maxLength: 100 });
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 50; i++) {
    const page = `<p style="margin-left: ${i}px; color: red">${"x".repeat(1_000_000)}`;
    memo.of(page.slice(10, 40), (own) => own.slice(0, 20));
  }
  collect();

  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
});
