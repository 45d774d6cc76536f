import { expect, test } from "vitest";
import { lastTurns } from "./last-turns.ts";

test("turns keep their order and say when they were", () => {
  const at = Date.parse("2026-02-25T21:55:03.123Z");
  const history = [
    { role: "user", content: "hi", at },
    { role: "assistant", content: "hello", at },
  ] as const;

  expect(lastTurns(history)).toEqual(
    history.map(({ role, content }) => ({ role, content, timestamp: "2026-02-25T21:55:03.123Z" })),
  );
  expect(lastTurns([])).toEqual([]);
});

test("of more than a message carries the newest turns stay", () => {
  const history = Array.from({ length: 50 }, (_, i) => ({
    role: "user" as const,
    content: `${i} ${"x".repeat(256 * 1024)}`,
    at: 0,
  }));

  const turns = lastTurns(history);

  expect(turns.length).toBeGreaterThan(10);
  expect(turns.length).toBeLessThan(17);
  expect(turns.at(-1)?.content).toMatch(/^49 /);
});
