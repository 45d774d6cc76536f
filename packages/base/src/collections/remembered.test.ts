import { expect, test, vi } from "vitest";
import { remembered } from "./remembered.ts";

test("makes each value once, and no more are kept than it may", () => {
  const make = vi.fn((key: string) => ({ key }));
  const made = remembered(make, 2);
  const a = made("a");
  expect([made("b").key, made("a") === a, make.mock.calls.length]).toEqual(["b", true, 2]);
  made("c");
  expect([made("a") === a, made("a"), make.mock.calls.length]).toEqual([false, { key: "a" }, 4]);
});
