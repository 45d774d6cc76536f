import { expect, onTestFinished, test, vi } from "vitest";
import { testWorkingMemory } from "../conformance.ts";
import { createWorkingMemory } from "./create-working-memory.ts";

testWorkingMemory("WorkingMemory in this process", async (limits) => createWorkingMemory(limits));

test("a process bounds what all owners keep together: what the one with most keeps gives way", async () => {
  await using memory = createWorkingMemory({ maxTotalBytes: 10_000 });
  await memory.of("one").set("session/a/x", "x".repeat(3_000));
  for (const key of ["x", "y", "z"]) await memory.of("two").set(`session/a/${key}`, "x".repeat(3_000));
  expect((await memory.of("two").list("")).map(({ key }) => key)).toEqual(["session/a/y", "session/a/z"]);
  const refused = memory.of("two").set("session/a/z", "x".repeat(8_000));
  await expect(refused).rejects.toMatchObject({
    name: "MemoryFullError",
    message: expect.stringContaining("this process"),
  });
  expect(await memory.of("one").get("session/a/x")).toBeDefined();
});

test("an owner that writes when all it had has expired keeps what it writes", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  await using memory = createWorkingMemory({ maxTotalBytes: 10_000 });
  await memory.of("one").set("session/a/x", "x".repeat(6_000), { ttlMs: 1_000 });
  vi.advanceTimersByTime(2_000);
  await memory.of("one").set("session/a/y", "y".repeat(6_000));
  expect(await memory.of("one").get("session/a/y")).toBeDefined();
});

test("what has expired is let go of although nobody asks for it", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  await using memory = createWorkingMemory({ maxTotalBytes: 10_000 });
  await memory.of("one").set("session/a/x", "x".repeat(6_000), { ttlMs: 1_000 });
  vi.advanceTimersByTime(31_000);
  await memory.of("two").set("session/a/x", "x".repeat(6_000));
});
