import { expect, test } from "vitest";
import { attempts } from "./attempts.ts";

test("of failures in a row the first is told, and after a success the next one again", async () => {
  const told: unknown[] = [];
  const attempt = attempts((error) => told.push(error));
  for (const fault of ["one", "two", undefined, "three", "four"])
    await attempt(async () => {
      if (fault !== undefined) throw fault;
    });
  expect(told).toEqual(["one", "three"]);
});
