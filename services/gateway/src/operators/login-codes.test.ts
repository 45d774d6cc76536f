import { expect, test } from "vitest";
import { CODE_MS, LoginCodes } from "./login-codes.ts";

test("a code holds once, and for five minutes", () => {
  let now = 0;
  const codes = new LoginCodes(() => now);
  const [used, late] = [codes.create(), codes.create()];
  expect([codes.take(used), codes.take(used), codes.take("")]).toEqual([true, false, false]);
  now = CODE_MS;
  expect(codes.take(late)).toBe(false);
});

test("of many codes the newest hold", () => {
  const codes = new LoginCodes();
  const made = Array.from({ length: 20 }, () => codes.create());
  expect(made.filter((code) => codes.take(code))).toEqual(made.slice(-8));
});
