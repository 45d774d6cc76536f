import { expect, test } from "vitest";
import { within } from "./within.ts";

test("within gives the result of work that ends in time", async () => {
  await expect(within(1000, Promise.resolve("done"), () => new Error("late"))).resolves.toBe("done");
});

test("within fails when the time is over", async () => {
  await expect(within(5, new Promise(() => {}), () => new Error("late"))).rejects.toThrow("late");
});
