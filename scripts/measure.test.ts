import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "@rockbot/testing";
import { expect, test } from "vitest";
import { measurements } from "./measure/measurements.ts";

const root = dirname(import.meta.dirname);
const measure = (...args: readonly string[]): Promise<string> =>
  run(process.execPath, [join(root, "scripts/measure.ts"), ...args], { timeoutMs: 60_000 });

test("without a name all measurements are listed, each with what it measures", async () => {
  const lines = (await measure()).trim().split("\n").slice(1);
  expect(lines).toEqual([...measurements].map(([name, { about }]) => expect.stringMatching(`^ +${name} +${about[0]}`)));
});

test("a name runs its program with the options behind it", async () => {
  expect(await measure("bench", "--help")).toContain("--contenders A,B");
  for (const { file } of measurements.values()) expect([file, existsSync(join(root, file))]).toEqual([file, true]);
});

test("an unknown name is refused with the names that there are", async () => {
  await expect(measure("benhc")).rejects.toThrow(/Cannot measure "benhc"[\s\S]*bench +a call/);
});
