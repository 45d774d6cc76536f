import { expect, test } from "vitest";
import { ResultCache } from "./result-cache.ts";

const HOUR_MS = 3_600_000;
const response = (content: string) => ({ toolCallId: "call", toolName: "tool", content });

test("beyond its bounds it forgets what was used longest ago", () => {
  const cache = new ResultCache({ maxEntries: 2 });
  cache.set("a", response("a"), HOUR_MS);
  cache.set("b", response("b"), HOUR_MS);
  cache.get("a", HOUR_MS);
  cache.set("c", response("c"), HOUR_MS);
  expect(["a", "b", "c"].map((key) => cache.get(key, HOUR_MS)?.content)).toEqual(["a", undefined, "c"]);
});

test("it keeps so many bytes, none of a result that would take the room of many", () => {
  const cache = new ResultCache({ maxBytes: 100_000 });
  cache.set("large", response("x".repeat(13_000)), HOUR_MS);
  expect(cache.get("large", HOUR_MS)).toBeUndefined();
  for (let i = 0; i < 20; i++) cache.set(String(i), response("x".repeat(10_000)), HOUR_MS);
  const kept = Array.from({ length: 20 }, (_, i) => i).filter((i) => cache.get(String(i), HOUR_MS) !== undefined);
  expect(kept).toEqual([16, 17, 18, 19]);
  cache.set("19", response("replaced"), HOUR_MS);
  for (let i = 0; i < 10; i++) cache.set(`small ${i}`, response("x"), HOUR_MS);
  expect(cache.get("16", HOUR_MS)).toBeDefined(); // what was replaced takes no room
});

test("a result is as old as it may be for whoever asks", () => {
  const cache = new ResultCache();
  cache.set("a", response("a"), HOUR_MS);
  expect(cache.get("a", 0)).toBeUndefined();
  expect(cache.get("a", HOUR_MS)).toBeDefined();
});
