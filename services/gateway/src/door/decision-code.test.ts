import { expect, test } from "vitest";
import { DecisionCode } from "./decision-code.ts";

test("a code is right as people type it, and nothing is until it was shown", () => {
  const code = new DecisionCode();
  expect([code.isShown, code.refuse("0000-0000-00")]).toEqual([false, "not-shown"]);
  const shown = code.show();
  expect(shown).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{2}$/);
  const typed = ` ${shown.replaceAll("-", " ").toLowerCase().replaceAll("0", "o").replaceAll("1", "l")} `;
  expect([code.refuse(shown), code.refuse(typed), code.refuse(undefined), code.refuse("")]).toEqual([
    undefined,
    undefined,
    "missing",
    "wrong",
  ]);
  expect(new DecisionCode().show()).not.toBe(shown);
});

test("after five wrong codes in a minute none is right for a minute", () => {
  let now = 1_000;
  const code = new DecisionCode(() => now);
  const shown = code.show();
  for (let i = 0; i < 4; i++) expect(code.refuse("wrong")).toBe("wrong");
  now += 60_000; // those are a minute old
  for (let i = 0; i < 5; i++) expect(code.refuse("wrong")).toBe("wrong");
  expect([code.refuse(shown), code.refuse(undefined)]).toEqual(["locked", "missing"]);
  now += 59_999;
  expect(code.refuse(shown)).toBe("locked");
  now += 1;
  expect(code.refuse(shown)).toBeUndefined();
});
