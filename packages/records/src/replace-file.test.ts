import { readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { replaceFile, sweepTemporaries } from "./replace-file.ts";

test("a file is replaced as a whole, for its user alone, and what killed writes have left is swept; a write that runs is not", async () => {
  using folder = temporaryFolder();
  const file = folder.write("tasks.json", "old");
  await replaceFile(file, "new");
  const left = folder.write("tasks.json.831f00aa11bb", "half");
  utimesSync(left, 1, 1);
  for (const name of ["tasks.json.000000000001", "other.json.831f00aa11bb", "tasks.json.mine"]) folder.write(name, "");
  utimesSync(join(folder.path, "other.json.831f00aa11bb"), 1, 1);
  await sweepTemporaries(folder.path, "tasks.json.");
  await sweepTemporaries(join(folder.path, "none"));

  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["new", 0o600]);
  expect(readdirSync(folder.path).sort()).toEqual([
    "other.json.831f00aa11bb",
    "tasks.json",
    "tasks.json.000000000001",
    "tasks.json.mine",
  ]);
});
