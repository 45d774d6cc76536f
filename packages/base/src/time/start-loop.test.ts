import { expect, test } from "vitest";
import { startLoop } from "./start-loop.ts";

test("startLoop runs its step again and again, and disposal waits for the step that runs", async () => {
  let running = 0;
  let runs = 0;
  const thrice = Promise.withResolvers<void>();
  const loop = startLoop(1, async () => {
    running++;
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    if (++runs === 3) thrice.resolve();
  });
  await thrice.promise;
  await loop[Symbol.asyncDispose]();
  const after = runs;
  expect(running).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(runs).toBe(after);
});
