import { expect, test } from "vitest";
import { parseCss } from "./css-text.ts";

test("a bracket that closes nothing is passed by, whatever was read before", () => {
  parseCss("@layer y#none[,top:1px@media screen)@layer y\n}:is(", {});

  expect(parseCss("{}]))+@media screen", {})).toMatchObject({ type: "StyleSheet" });
});
